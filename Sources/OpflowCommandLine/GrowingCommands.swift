/// What joins a run that goes on.
extension CommandRow {
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
