/// The parts of a command's help that are written by hand.
struct HelpWords {
  var summary: String
  var description = ""
  var examples = ""

  private static let selector = """
    SEL is a task's id, a pattern on ids with `*` and `?`, or tag:NAME. One that fits no task is a
    mistake.
    """

  private static let manifest = """
    FILE is the manifest: what ends in .yaml or .yml, `DIR/` for the opflow.yaml in that folder, `-`
    for standard input; -f takes a file of any name. Default: opflow.yaml here or in the nearest folder
    above that has one. TASK is a task's id, a pattern on ids with `*` and `?`, or tag:NAME.
    """

  private static let runName = """
    RUN is a run's id, the start of one that fits no other, or a manifest's path, which stands for its
    newest run. Default: the newest run of `.opflow` here or in the nearest folder above that has one.
    """

  static func of(_ command: CommandName) -> HelpWords {
    switch command {
    case .run: run
    case .resume: resume
    case .check: check
    case .plan: plan
    case .status: status
    case .logs: logs
    case .runs: runs
    case .journal: journal
    case .version: HelpWords(summary: "Print the version of opflow.")
    case .help: HelpWords(summary: "Print the help of opflow, or of one of its commands.")
    case .cancel, .pause, .proceed, .priority, .parallel, .graph, .report, .clean, .`init`,
      .schema, .completion:
      HelpWords(summary: "Not supported yet.")
    }
  }

  private static let run = HelpWords(
    summary: "Run a manifest, or some tasks of it and what they need.",
    description: """
      \(manifest)

      With TASK these tasks run and what they need, and of the `finally` tasks those that need one of
      them. Ctrl-C once stops after the tasks that run, which are ended by their stop rules; twice kills
      them at once. Either way `opflow resume` continues.

      \(selector)

      Exit codes: 0 all went well, 1 a task failed, 2 wrong use, 3 the manifest is wrong, 4 the journal
      is damaged, 5 another process holds the run, 70 an internal error, 74 an I/O error, 129, 130 and
      143 ended by SIGHUP, SIGINT and SIGTERM.
      """,
    examples: """
        opflow run                        run all tasks of opflow.yaml
        opflow run test                   the task `test`, and what it needs
        opflow run -j4 -k build.yaml      four at once, and go on after failures
        opflow run --only 'test-*'        some tasks, and what they need
        opflow run --resume ci.yaml       continue if there is something to continue: for CI
        opflow run --set ver=2 -n         show what would run with another `vars.ver`
      """)

  private static let resume = HelpWords(
    summary: "Continue a run that was interrupted, cancelled or failed.",
    description: """
      Tasks that are done are not run again, unless their definition changed, a task that they need
      ran again, or --rerun names them. The manifest is read anew; --set, --only and --skip are those
      of the run unless given here.

      \(runName)

      \(selector)
      """,
    examples: """
        opflow resume                     continue the newest run
        opflow resume -n                  show what would run again, and why
        opflow resume --rerun 'test-*'    run some tasks again though they are done
        opflow resume -k 20260102         of that day, and go on after failures
      """)

  private static let check = HelpWords(
    summary: "Read and validate a manifest, run nothing.",
    description: """
      Every mistake is printed with its line and column; the exit code is then 3.

      \(manifest)
      """,
    examples: """
        opflow check                      check opflow.yaml
        opflow check --set ver=2 ci.yaml  with another `vars.ver`
      """)

  private static let plan = HelpWords(
    summary: "Show what would run, in which order, and why. Nothing is written.",
    description: """
      \(manifest)

      Tasks are listed in the order they would start in if each took as long as in earlier runs of this
      manifest, or, where there are none, as long as any other. Below them stand how long all of it would
      take, what no order could beat, and the critical path. -j takes several numbers here, to compare.

      \(selector)
      """,
    examples: """
        opflow plan                       all of opflow.yaml
        opflow plan -j 1,2,4,8            how long it would take on so many processors
        opflow plan deploy                what `deploy` takes along
        opflow plan --resume              what a resume would run again
      """)

  private static let status = HelpWords(
    summary: "Show where a run stands, also while it runs.",
    description: runName,
    examples: """
        opflow status                     the newest run
        opflow status -v ci.yaml          every task of the newest run of ci.yaml
        opflow status --json | jq .counts
      """)

  private static let logs = HelpWords(
    summary: "Print what tasks printed.",
    description: """
      Without TASK: of all tasks that printed something, in the order of the manifest. TASK is a task's
      id, a pattern on ids with `*` and `?`, or tag:NAME; one that is no task may be RUN. Control
      characters are left out; the files as they were written are in the run's folder, `logs`.

      \(runName)
      """,
    examples: """
        opflow logs test                  of one task
        opflow logs ci.yaml               of the newest run of ci.yaml
        opflow logs -f                    follow all tasks until the run ends
        opflow logs --run 2026 'build-*'  of some tasks of an older run
      """)

  private static let runs = HelpWords(
    summary: "List the runs here, newest first.",
    description: """
      Here is `.opflow` in this folder or in the nearest folder above that has one; --state-dir names
      another.
      """)

  private static let journal = HelpWords(
    summary: "Look at the journal of a run: the record that every other command reads.",
    description: """
      verify says what is damaged, and what that means for each task: exit code 0 when nothing is, 4
      when something is. export prints each intact line as a JSON object, with the keys of the journal.
      repair puts a copy without the damaged lines in the journal's place and keeps the old one beside
      it; a resume needs no repair, since it passes over what is damaged. Only repair changes anything.

      \(runName)
      """,
    examples: """
        opflow journal verify             the newest run's journal
        opflow journal export | jq 'select(.event == "failure")'
      """)
}
