/// The commands that look at runs.
extension CommandRow {
  static var status: CommandRow {
    CommandRow(
      group: .looking, meaning: "where a run stands, also while it runs",
      words: .run,
      flags: [.json, .verbose, .color, .directory, .stateDirectory]
    ) {
      CommandHelp(
        summary: "Show where a run stands, also while it runs.",
        description: HelpPhrases.run,
        examples: """
            opflow status                     the newest run
            opflow status -v ci.yaml          every task of the newest run of ci.yaml
            opflow status --json | jq .counts
          """)
    }
  }

  static var logs: CommandRow {
    CommandRow(
      group: .looking, meaning: "what tasks printed; -f follows",
      words: .tasks,
      flags: [.follow, .run, .color, .directory, .stateDirectory]
    ) {
      CommandHelp(
        summary: "Print what tasks printed.",
        description: """
          Without TASK: of all tasks that printed something, in the order of the manifest. TASK is a task's
          id, a pattern on ids with `*` and `?`, or tag:NAME; one that is no task may be RUN. Control
          characters are left out; the files as they were written are in the run's folder, `logs`.

          \(HelpPhrases.run)
          """,
        examples: """
            opflow logs test                  of one task
            opflow logs ci.yaml               of the newest run of ci.yaml
            opflow logs -f                    follow all tasks until the run ends
            opflow logs --run 2026 'build-*'  of some tasks of an older run
          """)
    }
  }

  static var runs: CommandRow {
    CommandRow(
      group: .looking, meaning: "the runs here, newest first",
      words: .nothing,
      flags: [.color, .directory, .stateDirectory]
    ) {
      CommandHelp(
        summary: "List the runs here, newest first.",
        description: """
          Here is `.opflow` in this folder or in the nearest folder above that has one; --state-dir names
          another.
          """)
    }
  }

  static var journal: CommandRow {
    CommandRow(
      group: .looking,
      meaning: "the record of a run: is it whole, as JSON, without what is damaged",
      words: .actionAndRun,
      flags: [.color, .directory, .stateDirectory]
    ) {
      CommandHelp(
        summary: "Look at the journal of a run: the record that every other command reads.",
        description: """
          verify says what is damaged, and what that means for each task: exit code 0 when nothing is, 4
          when something is. export prints each intact line as a JSON object, with the keys of the journal.
          repair puts a copy without the damaged lines in the journal's place and keeps the old one beside
          it; a resume needs no repair, since it passes over what is damaged. Only repair changes anything.

          \(HelpPhrases.run)
          """,
        examples: """
            opflow journal verify             the newest run's journal
            opflow journal export | jq 'select(.event == "failure")'
          """)
    }
  }
}
