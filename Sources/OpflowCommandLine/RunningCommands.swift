internal import OpflowPlan

/// Commands that run a manifest or predict a run.
extension CommandRow {
  static var run: CommandRow {
    CommandRow(
      group: .running,
      meaning: "run a manifest (default: opflow.yaml), or these tasks and what they need",
      words: .manifestAndTasks(handsOn: true),
      flags: [
        .set, .only, .skip, .resume, .rerun, .maxParallel, .maxFailures, .keepGoing, .ifRunning,
        .memory, .dryRun, .watchFiles,
        .output, .quiet, .verbose, .json, .color, .junit, .notify, .ciCommands, .durability,
        .workers, .queueTimeout, .takeOver, .cache, .cacheWrite, .noCache, .file, .directory,
        .stateDirectory,
      ],
      rule: RunRules.check,
      summary: "Run a manifest, or some tasks of it and what they need.",
      description: """
        \(HelpPhrases.manifest)

        With TASK these tasks run and what they need, and of the `finally` tasks those that need one of
        them. Ctrl-C once stops after the tasks that run, which are ended by their stop rules; twice kills
        them at once. Either way `opflow resume` continues.

        What stands behind `--` goes to the one task that is named: as `"$@"` to a script, and behind the
        words of a list. It belongs to the run, and a resume hands it on again.

        \(HelpPhrases.selector)

        With --watch it stays after the end, and resumes the run whenever the manifest, a file that this
        names or an input of a task has other contents: what changed runs again, and what failed.
        Ctrl-C leaves.

        With --on tasks run on other machines, which see the same files: on the nodes of a Slurm
        allocation (`slurm`, and Slurm's own options behind a colon: one is asked for then), on hosts by
        ssh, or wherever a command reaches an `opflow agent`. Downloads, `local: true` and `finally` stay
        here. `opflow resume` and `status` work from any of them.

        While the live view is on a terminal, `?` shows its keys: pause, cancel a task, approve, follow a
        log and so on.

        Exit codes: 0 all went well, 1 a task failed, 2 wrong use, 3 the manifest is wrong, 4 the journal
        is damaged, 5 another process holds the run, 6 stopped by `opflow cancel`, 70 an internal error,
        74 an I/O error, 129, 130 and 143 ended by SIGHUP, SIGINT and SIGTERM.
        """,
      examples: """
          opflow run                        run all tasks of opflow.yaml
          opflow run test                   the task `test`, and what it needs
          opflow run test -- -v --slow      the same, with arguments for `test`
          opflow run -j4 -k build.yaml      four at once, and go on after failures
          opflow run --only 'test-*'        some tasks, and what they need
          opflow run --resume ci.yaml       continue if there is something to continue: for CI
          opflow run --set ver=2 -n         show what would run with another `vars.ver`
        """)
  }

  static var resume: CommandRow {
    CommandRow(
      group: .running, meaning: "continue a run: finished tasks are not run again",
      words: .run,
      flags: [
        .set, .only, .skip, .rerun, .maxParallel, .maxFailures, .keepGoing, .ifRunning,
        .memory, .dryRun, .output,
        .quiet, .verbose, .json, .color, .junit, .notify, .ciCommands, .durability, .workers,
        .queueTimeout, .takeOver,
        .cache, .cacheWrite, .noCache, .directory, .stateDirectory,
      ],
      unlisted: [.controlDescriptor, .forQueue],
      rule: RunRules.check,
      summary: "Continue a run that was interrupted, cancelled or failed.",
      description: """
        Tasks that are done are not run again, unless their definition changed, a task that they need
        ran again, or --rerun names them. The manifest is read anew; --set, --only and --skip are those
        of the run unless given here.

        Where a process on another machine holds the run, that is waited for, up to two minutes: the file
        system may keep the lock of a machine that is gone. --take-over goes on without it. Should it come
        back after all, it ends what it has.

        \(HelpPhrases.resumedRun)

        \(HelpPhrases.selector)
        """,
      examples: """
          opflow resume                     continue the newest run
          opflow resume -n                  show what would run again, and why
          opflow resume --rerun 'test-*'    run some tasks again though they are done
          opflow resume -k 20260102         of that day, and go on after failures
        """)
  }

  static var check: CommandRow {
    CommandRow(
      group: .running, meaning: "read and validate a manifest, run nothing",
      label: "", words: .manifestAndTasks(handsOn: false),
      flags: [.set, .color, .file, .directory],
      summary: "Read and validate a manifest, run nothing.",
      description: """
        Every mistake is printed with its line and column; the exit code is then 3.

        \(HelpPhrases.manifest)
        """,
      examples: """
          opflow check                      check opflow.yaml
          opflow check --set ver=2 ci.yaml  with another `vars.ver`
        """)
  }

  static var plan: CommandRow {
    CommandRow(
      group: .running, meaning: "what would run, in which order, and why",
      words: .manifestAndTasks(handsOn: false),
      flags: [
        .set, .only, .skip, .resume, .rerun, .maxParallel, .maxFailures, .keepGoing, .verbose,
        .color, .cache, .noCache, .file, .directory, .stateDirectory,
      ],
      rule: RunRules.check,
      summary: "Show what would run, in which order, and why. Nothing is written.",
      description: """
        \(HelpPhrases.manifest)

        Tasks are listed in the order they would start in if each took as long as in earlier runs of this
        manifest, or, where there are none, as long as any other. Below them stand how long all of it would
        take, what no order could beat, and the critical path. -j takes several numbers here, to compare.
        The legs of a family share a row; -v gives each its own.

        Tasks with `inputs` are looked at as a run would. WHY tells what has one run: `changed: a.c`, or
        `unless lib leaves the same` where what a task leaves that runs before decides.

        \(HelpPhrases.selector)
        """,
      examples: """
          opflow plan                       all of opflow.yaml
          opflow plan -j 1,2,4,8            how long it would take on so many processors
          opflow plan deploy                what `deploy` takes along
          opflow plan --resume              what a resume would run again
        """)
  }
}

/// Commands for runs that stay open.
extension CommandRow {
  static var serve: CommandRow {
    CommandRow(
      group: .running, meaning: "a run that stays open for tasks to be added",
      words: .optionalFile,
      flags: [
        .name, .set, .maxParallel, .maxFailures, .memory,
        .output, .quiet, .verbose, .json, .color, .junit, .notify, .ciCommands, .durability,
        .workers, .queueTimeout, .cache, .cacheWrite, .noCache, .file, .directory,
        .stateDirectory,
      ],
      unlisted: [.controlDescriptor],
      rule: RunRules.check,
      summary: "Begin a run that stays open: `opflow add` adds tasks, `opflow close` ends it.",
      description: """
        FILE is the manifest that it begins with, which may have no task; without one it has none, and no
        manifest here is read. What all tasks share stands in it: `resources`, `secrets`, `max_parallel`.

        It ends when it was closed and nothing is left to run. A task that fails says nothing of those that
        others added: --max-failures is 0 here. Ctrl-C ends it as any run; `opflow resume` has it wait
        again. With --name the others say `--run NAME` for it, and two of one name are not live at once.
        """,
      examples: """
          opflow serve --name queue         without a task, known as `queue`
          opflow serve base.yaml -j 4       with what base.yaml has, four at once
          opflow add --run queue job.yaml   from another terminal
          opflow close --run queue          nothing more comes
        """)
  }

  static var close: CommandRow {
    asking(
      .close, "let a run of `serve` end when nothing is left",
      summary: "Let a run end that `opflow serve` keeps open.",
      description: """
        What it has is run to its end. Only its own tasks can still add to it, while they run.

        \(HelpPhrases.liveRun)
        """)
  }

  static var add: CommandRow {
    CommandRow(
      group: .steering, meaning: "have the tasks of a manifest join it", words: .file,
      flags: askedFlags,
      summary: "Have the tasks of a manifest join a run that goes on.",
      description: """
        FILE is a manifest, `-` for standard input. Its tasks may need those of the run, and run as if they
        had been in its manifest; a resume has them too. All of it is added, or nothing. What the run has
        already with the same definition is left as it is; the same id with another one is a mistake.
        `resources`, `secrets`, `max_parallel` and `max_failures` stand in the run's first manifest.

        What a task of the run adds waits for the end of that task, and is skipped where it fails. Nothing
        is added once the `finally` tasks begin.

        \(HelpPhrases.liveRun)
        """,
      examples: """
          opflow add more.yaml              to the run that is live here
          ./list-parts | opflow add -       what a command prints
        """)
  }
}
