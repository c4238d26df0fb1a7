package import OpflowPlan

/// Parser, help and hints are made from the commands' rows.
package enum Command: Hashable, CaseIterable, Sendable {
  case run, serve, resume, check, plan
  case tasks, status, why, wait, logs, runs, graph, report, journal
  /// A request to a live run.
  case request(ControlAction)
  case add, clean, initialize, schema, completion, version, help

  /// In the order of the help.
  package static let allCases: [Command] =
    [
      .run, .resume, .plan, .check, .serve, .status, .logs, .why, .tasks, .report, .runs, .wait,
      .graph, .journal,
    ] + ControlAction.allCases.filter { $0 != .close }.map { .request($0) }
    + [.add, .request(.close), .initialize, .clean, .help, .schema, .completion, .version]

  package var word: String {
    switch self {
    case .run: "run"
    case .serve: "serve"
    case .resume: "resume"
    case .check: "check"
    case .plan: "plan"
    case .tasks: "tasks"
    case .status: "status"
    case .why: "why"
    case .wait: "wait"
    case .logs: "logs"
    case .runs: "runs"
    case .graph: "graph"
    case .report: "report"
    case .journal: "journal"
    case .request(let verb): verb.rawValue
    case .add: "add"
    case .clean: "clean"
    case .initialize: "init"
    case .schema: "schema"
    case .completion: "completion"
    case .version: "version"
    case .help: "help"
    }
  }

  init?(named word: String) {
    guard let command = Self.allCases.first(where: { $0.word == word }) else { return nil }
    self = command
  }

  /// Built on demand, for the called command only.
  var row: CommandRow {
    switch self {
    case .run: .run
    case .serve: .serve
    case .resume: .resume
    case .check: .check
    case .plan: .plan
    case .tasks: .tasks
    case .status: .status
    case .why: .why
    case .wait: .wait
    case .logs: .logs
    case .runs: .runs
    case .graph: .graph
    case .report: .report
    case .journal: .journal
    case .request(let verb): .request(verb)
    case .add: .add
    case .clean: .clean
    case .initialize: .initialize
    case .schema: .schema
    case .completion: .completion
    case .version: .version
    case .help: .help
    }
  }

  var flags: [Flag] { row.flags }

  /// After `opflow`.
  package var synopsis: String {
    let row = row
    let words = row.words.synopsis
    return word + words.before + (row.flags.isEmpty ? "" : " [FLAGS]") + words.behind
  }
}

struct CommandRow {
  let group: CommandGroup
  /// `opflow help` lists the command without `--all`.
  var isCommon = false
  let words: Words
  var flags: [Flag] = []
  /// The flags of the short help; by default all.
  var common: [Flag]?
  /// For programs; the help does not show them.
  var unlisted: [Flag] = []
  /// Runs after all flags are read.
  var rule: (inout Invocation) throws(Complaint) -> Void = { (_) throws(Complaint) in }
  /// A sentence without a period.
  let summary: String
  /// The three of the short help.
  let examples: [Example]
  /// For the long help.
  var details = ""
  var exits = HelpPhrases.exits("0", "2")

  typealias Example = (command: String, meaning: String)
}

enum CommandGroup: String, CaseIterable {
  case running = "Run"
  case inspecting = "Inspect"
  case controlling = "Control"
  case managing = "Manage"
}

enum HelpPhrases {
  /// As in `RunLookup.defaultRun`.
  static let defaultRun = """
    Without RUN, opflow uses the first of these: within a task, the run of that task; the newest live run
    in the nearest .opflow here or above; the newest run there.
    """

  static let resumedRun = """
    Without RUN, opflow resumes the newest run in the nearest .opflow here or above.
    """

  static let liveRun = """
    Without `--run`, opflow controls the live run in the nearest .opflow here or above. If several runs
    are live, it lists them and exits with 2. Within a task, it controls the run of the task, if that has
    `control: true`.
    """

  static let request = """
    If opflow cannot do all of a request, it refuses the request and changes nothing. A task that you
    name by its ID must be in a state that allows the request; a glob, a matrix or a tag skips tasks that
    are not.

    \(liveRun)
    """

  typealias Exit = (code: String, meaning: String)

  static let exitsOfRuns: [Exit] = [
    ("0", "all tasks succeeded, were up to date or skipped, or had `allow_failure`"),
    ("1", "a task failed"), ("2", "wrong usage"), ("3", "the manifest has errors"),
    ("4", "the journal is damaged or belongs to another program"),
    ("5", "another process holds the run"), ("6", "the run was cancelled; you can resume it"),
    ("70", "internal error"),
    ("74", "I/O error, such as a full disk; you can resume the run"),
    ("129, 130, 143", "ended by SIGHUP, SIGINT or SIGTERM; you can resume the run"),
  ]

  private static let exitsOfViews: [Exit] = [
    ("0", "success"), ("1", "a task failed"),
    ("2", "wrong usage, or the run or task does not exist"),
    ("3", "the manifest has errors"), ("4", "the journal is damaged"),
    ("5", "another process holds the run"), ("6", "the run, or the task, was cancelled"),
    ("137", "the process of the run was killed or crashed"),
  ]

  static func exits(_ codes: String...) -> [Exit] {
    exitsOfViews.filter { codes.contains($0.code) }
  }
}

package enum CompletionShell: String, CaseIterable, Sendable {
  case bash, zsh, fish

  /// The internal subcommand for completion scripts.
  package static let question = "__complete"
}
