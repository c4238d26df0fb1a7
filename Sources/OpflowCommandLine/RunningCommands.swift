internal import OpflowPlan

/// Commands that run a manifest or predict a run.
extension CommandRow {
  static var run: CommandRow {
    CommandRow(
      group: .running, isCommon: true,
      words: .manifestAndTasks(handsOn: true),
      flags: [
        .set, .only, .skip, .resume, .rerun, .dryRun, .maxParallel, .maxFailures, .keepGoing,
        .ifRunning, .memory, .output, .quiet, .verbose, .json, .color, .junit, .ciCommands,
        .workers, .queueTimeout, .takeOver, .cache, .cacheWrite, .noCache, .file, .directory,
        .stateDirectory, .watchFiles, .notify, .durability,
      ],
      common: [
        .maxParallel, .keepGoing, .dryRun, .only, .skip, .rerun, .resume, .set, .watchFiles,
      ],
      rule: RunRules.check,
      summary: "Run all tasks of a manifest, or some tasks and their dependencies",
      examples: [
        ("opflow run", "Run all tasks of opflow.yaml"),
        ("opflow run -j4 test", "Run `test` and its dependencies, 4 tasks at once"),
        ("opflow run test -- -v --slow", "Pass arguments to the task `test`"),
      ],
      details: """
        With TASK, opflow runs these tasks and their dependencies, and the `finally` tasks that need one
        of them. -j sets the limit of the resource `cpu`, of which a task uses 1 by default. If flags set
        the same thing, such as -q and --output line or -k and --max-failures 2, the last one counts.

        Ctrl-C sends running tasks their stop signal and ends the run; press it again to kill them. In
        both cases, `opflow resume` continues the run.

        opflow passes the arguments after `--` to the one task that you name: a script gets them as "$@",
        a list gets them appended. A resume passes them again.

        With --watch, opflow stays after the end of the run. It resumes the run when the contents of the
        manifest, of an included file or of an input change. Changed and failed tasks run again.

        With --on, tasks run on other machines that see the same files: on nodes that Slurm allocates, on
        hosts by ssh, or where a command starts `opflow agent`. Downloads, `finally` tasks and tasks with
        `local: true` run on this machine. `opflow resume` and `opflow status` work on each of them.

        In the live view, press `?` for its keys: pause, cancel a task, approve, follow a log and more.
        """,
      exits: HelpPhrases.exitsOfRuns)
  }

  static var resume: CommandRow {
    CommandRow(
      group: .running, isCommon: true, words: .run,
      flags: [
        .set, .only, .skip, .rerun, .dryRun, .maxParallel, .maxFailures, .keepGoing, .ifRunning,
        .memory, .output, .quiet, .verbose, .json, .color, .junit, .ciCommands, .run, .workers,
        .queueTimeout, .takeOver, .cache, .cacheWrite, .noCache, .directory, .stateDirectory,
        .notify, .durability,
      ],
      common: [
        .maxParallel, .keepGoing, .dryRun, .only, .skip, .rerun, .set, .quiet, .verbose, .takeOver,
      ],
      unlisted: [.controlDescriptor, .forQueue],
      rule: RunRules.check,
      summary: "Continue a run that failed, was cancelled or was interrupted",
      examples: [
        ("opflow resume", "Continue the newest run"),
        ("opflow resume -n", "Show which tasks would run again, and why"),
        ("opflow resume --rerun 'test-*'", "Also run finished tasks again"),
      ],
      details: """
        Finished tasks do not run again, unless their definition changed, a dependency ran again, or
        --rerun names them. opflow reads the manifest again. The flags --set, --only and --skip default to
        those of the run.

        If a process on another machine holds the run, opflow waits up to two minutes, because a file
        system can keep the lock of a dead machine. --take-over does not wait. If the other machine comes
        back, opflow there ends its tasks.

        \(HelpPhrases.resumedRun)
        """,
      exits: HelpPhrases.exitsOfRuns)
  }

  static var check: CommandRow {
    CommandRow(
      group: .running, isCommon: true, words: .manifestAndTasks(handsOn: false),
      flags: [.set, .color, .file, .directory],
      summary: "Check a manifest for errors without running it",
      examples: [
        ("opflow check", "Check opflow.yaml"),
        ("opflow check --set ver=2 ci.yaml", "Check ci.yaml with another value of `vars.ver`"),
        ("opflow check - < generated.yaml", "Check a manifest on standard input"),
      ],
      details: "opflow prints every error with its line and column.",
      exits: HelpPhrases.exits("0", "2", "3"))
  }

  static var plan: CommandRow {
    CommandRow(
      group: .running, isCommon: true, words: .manifestAndTasks(handsOn: false),
      flags: [
        .set, .only, .skip, .resume, .rerun, .maxParallel, .maxFailures, .keepGoing, .verbose,
        .color, .cache, .noCache, .file, .directory, .stateDirectory,
      ],
      common: [.maxParallel, .only, .skip, .resume, .rerun, .set, .verbose, .file],
      rule: RunRules.check,
      summary: "Show which tasks would run, in order, without running them",
      examples: [
        ("opflow plan", "Plan a run of all tasks"),
        ("opflow plan -j 1,2,4,8", "Compare the expected times with 1 to 8 tasks at once"),
        ("opflow plan --resume", "Show the plan of `opflow run --resume`"),
      ],
      details: """
        opflow lists the tasks in the order in which they would start. It estimates times from earlier runs
        of the manifest; without earlier runs it assumes that all tasks take equally long. Below the tasks
        it prints the expected time of the run, a lower bound and the critical path. -j takes several
        numbers to compare. The tasks of a matrix share a row; with -v each has its own.

        opflow checks `inputs` as a run does. The column WHY shows the reason that a task would run, such as
        `changed: a.c`. With `unless lib leaves the same`, the task runs only if its dependency `lib` changes
        its outputs.
        """,
      exits: HelpPhrases.exits("0", "2", "3"))
  }
}

/// Commands for runs that stay open.
extension CommandRow {
  static var serve: CommandRow {
    CommandRow(
      group: .running, words: .optionalFile,
      flags: [
        .set, .name, .maxParallel, .maxFailures, .memory, .output, .quiet, .verbose, .json, .color,
        .junit, .ciCommands, .workers, .queueTimeout, .cache, .cacheWrite, .noCache, .file,
        .directory, .stateDirectory, .notify, .durability,
      ],
      common: [.name, .maxParallel, .maxFailures, .set, .quiet, .verbose, .json, .file],
      unlisted: [.controlDescriptor],
      rule: RunRules.check,
      summary: "Start a queue: a run that stays open for tasks to be added",
      examples: [
        ("opflow serve --name jobs", "Start a queue without tasks"),
        ("opflow add --run jobs job.yaml", "Add tasks, from another terminal"),
        ("opflow close --run jobs", "Let the queue end when it is empty"),
      ],
      details: """
        FILE is the first manifest of the queue and may have no tasks. It declares `resources`, `secrets`
        and `max_parallel` for all tasks that are added. Without FILE opflow reads no manifest.

        The queue ends when `opflow close` closed it and all its tasks have ended. A failure does not stop
        other tasks: --max-failures defaults to 0. Ctrl-C ends a queue like any run; `opflow resume` opens it
        again. With --name, other commands find it by `--run NAME`; only one live run can have a name.
        """,
      exits: HelpPhrases.exitsOfRuns)
  }

  static var close: CommandRow {
    request(
      .close, "Stop accepting tasks; the queue ends when it is empty",
      examples: [
        ("opflow close", "Close the live queue"),
        ("opflow close --run jobs", "Close the queue with the name `jobs`"),
        ("opflow add last.yaml && opflow close", "Add the last tasks, then close"),
      ],
      details: """
        Tasks that are in the queue run to their end. Only they can still add tasks.

        \(HelpPhrases.liveRun)
        """)
  }

  static var add: CommandRow {
    CommandRow(
      group: .controlling, words: .file, flags: requestFlags,
      summary: "Add the tasks of a manifest to a live run",
      examples: [
        ("opflow add more.yaml", "Add tasks to the live run"),
        ("./list-parts | opflow add -", "Add the tasks that a command prints"),
        ("opflow add --run jobs job.yaml", "Add tasks to the queue `jobs`"),
      ],
      details: """
        The added tasks may need tasks of the run, and a resume includes them. opflow adds all of the
        manifest or nothing. If the run has a task with the same ID and definition, opflow keeps it; the
        same ID with another definition is an error. `resources`, `secrets`, `max_parallel` and
        `max_failures` belong in the first manifest of the run.

        Tasks that a task of the run adds start after that task, and are skipped if it fails. You cannot
        add tasks after the `finally` tasks have started.

        \(HelpPhrases.liveRun)
        """, exits: HelpPhrases.exits("0", "2", "3"))
  }
}
