internal import OpflowPlan

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
      rule: RunRules.check
    ) {
      CommandHelp(
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
  }

  static var close: CommandRow {
    asking(.close, "let a run of `serve` end when nothing is left") {
      CommandHelp(
        summary: "Let a run end that `opflow serve` keeps open.",
        description: """
          What it has is run to its end. Only its own tasks can still add to it, while they run.

          \(HelpPhrases.liveRun)
          """)
    }
  }

  static var add: CommandRow {
    CommandRow(
      group: .steering, meaning: "have the tasks of a manifest join it", words: .file,
      flags: askedFlags
    ) {
      CommandHelp(
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
}
