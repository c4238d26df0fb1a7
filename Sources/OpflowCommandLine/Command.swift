/// The commands of opflow, in the order of the help: one row each. Parser, help and hints are made of
/// these rows.
package enum Command: String, CaseIterable, Sendable {
  case run, resume, check, plan
  case status, logs, runs, journal
  case version, help

  /// The command of that name. Looks through the names: the standard library would first make a table
  /// of them, for the one word that a program is given.
  init?(named word: String) {
    guard let name = Self.allCases.first(where: { $0.rawValue == word }) else { return nil }
    self = name
  }

  /// Made when it is asked for, of the one command that is called.
  var row: CommandRow {
    switch self {
    case .run:
      CommandRow(
        group: .running,
        meaning: "run a manifest (default: opflow.yaml), or these tasks and what they need",
        words: .manifestAndTasks(handsOn: true),
        flags: [
          .set, .only, .skip, .resume, .rerun, .maxParallel, .maxFailures, .keepGoing, .dryRun,
          .output, .quiet, .verbose, .json, .color, .durability, .workers, .file, .directory,
          .stateDirectory,
        ],
        rule: RunRules.check
      ) {
        CommandHelp(
          summary: "Run a manifest, or some tasks of it and what they need.",
          description: """
            \(HelpPhrases.manifest)

            With TASK these tasks run and what they need, and of the `finally` tasks those that need one of
            them. Ctrl-C once stops after the tasks that run, which are ended by their stop rules; twice kills
            them at once. Either way `opflow resume` continues.

            What stands behind `--` goes to the one task that is named: as `"$@"` to a script, and behind the
            words of a list. It belongs to the run, and a resume hands it on again.

            \(HelpPhrases.selector)

            Exit codes: 0 all went well, 1 a task failed, 2 wrong use, 3 the manifest is wrong, 4 the journal
            is damaged, 5 another process holds the run, 70 an internal error, 74 an I/O error, 129, 130 and
            143 ended by SIGHUP, SIGINT and SIGTERM.
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
    case .resume:
      CommandRow(
        group: .running, meaning: "continue a run: finished tasks are not run again",
        words: .run,
        flags: [
          .set, .only, .skip, .rerun, .maxParallel, .maxFailures, .keepGoing, .dryRun, .output,
          .quiet, .verbose, .json, .color, .durability, .workers, .directory, .stateDirectory,
        ],
        rule: RunRules.check
      ) {
        CommandHelp(
          summary: "Continue a run that was interrupted, cancelled or failed.",
          description: """
            Tasks that are done are not run again, unless their definition changed, a task that they need
            ran again, or --rerun names them. The manifest is read anew; --set, --only and --skip are those
            of the run unless given here.

            \(HelpPhrases.run)

            \(HelpPhrases.selector)
            """,
          examples: """
              opflow resume                     continue the newest run
              opflow resume -n                  show what would run again, and why
              opflow resume --rerun 'test-*'    run some tasks again though they are done
              opflow resume -k 20260102         of that day, and go on after failures
            """)
      }
    case .check:
      CommandRow(
        group: .running, meaning: "read and validate a manifest, run nothing",
        label: "", words: .manifestAndTasks(handsOn: false),
        flags: [.set, .color, .file, .directory]
      ) {
        CommandHelp(
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
    case .plan:
      CommandRow(
        group: .running, meaning: "what would run, in which order, and why",
        words: .manifestAndTasks(handsOn: false),
        flags: [
          .set, .only, .skip, .resume, .rerun, .maxParallel, .maxFailures, .keepGoing, .verbose,
          .color, .file, .directory, .stateDirectory,
        ],
        rule: RunRules.check
      ) {
        CommandHelp(
          summary: "Show what would run, in which order, and why. Nothing is written.",
          description: """
            \(HelpPhrases.manifest)

            Tasks are listed in the order they would start in if each took as long as in earlier runs of this
            manifest, or, where there are none, as long as any other. Below them stand how long all of it would
            take, what no order could beat, and the critical path. -j takes several numbers here, to compare.
            The legs of a family share a row; -v gives each its own.

            \(HelpPhrases.selector)
            """,
          examples: """
              opflow plan                       all of opflow.yaml
              opflow plan -j 1,2,4,8            how long it would take on so many processors
              opflow plan deploy                what `deploy` takes along
              opflow plan --resume              what a resume would run again
            """)
      }
    case .status:
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
    case .logs:
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
    case .runs:
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
    case .journal:
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
    case .version:
      CommandRow(
        group: .other, meaning: "the version of opflow",
        words: .nothing
      ) {
        CommandHelp(summary: "Print the version of opflow.")
      }
    case .help:
      CommandRow(
        group: .other, meaning: "this text, or all about a command",
        words: .topic
      ) {
        CommandHelp(summary: "Print the help of opflow, or of one of its commands.")
      }
    }
  }

  var flags: [Flag] { row.flags }

  /// What follows `opflow`, in short.
  package var synopsis: String {
    let row = row
    let words = row.words.synopsis
    return rawValue + words.before + (row.flags.isEmpty ? "" : " [FLAGS]") + words.behind
  }
}
