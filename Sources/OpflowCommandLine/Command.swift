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
      .run, .serve, .resume, .check, .plan, .tasks, .status, .why, .wait, .logs, .runs, .graph,
      .report, .journal,
    ] + ControlAction.allCases.filter { $0 != .close }.map { .request($0) }
    + [.add, .request(.close), .clean, .initialize, .schema, .completion, .version, .help]

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
  /// For the program's help.
  let meaning: String
  /// The arguments in that help; by default those of the usage line without FILE.
  var label: String?
  let words: Words
  var flags: [Flag] = []
  /// For programs; the help does not show them.
  var unlisted: [Flag] = []
  /// Runs after all flags are read.
  var rule: (inout Invocation) throws(Complaint) -> Void = { (_) throws(Complaint) in }
  let summary: String
  var description = ""
  var examples = ""
}

enum CommandGroup: String, CaseIterable {
  case running = "Running"
  case looking = "Looking"
  case steering = "Steering a live run"
  case other = "Else"
}

enum HelpPhrases {
  static let selector = """
    SEL is a task's id, the name of a family or some of its legs (build[arch=x86_64]), a pattern on ids
    with `*` and `?`, or tag:NAME. One that fits no task is a mistake.
    """

  static let manifest = """
    FILE is the manifest: what ends in .yaml or .yml, `DIR/` for the opflow.yaml in that folder, `-`
    for standard input; -f takes a file of any name. Default: opflow.yaml here or in the nearest folder
    above that has one. TASK is a task's id, a pattern on ids with `*` and `?`, or tag:NAME.
    """

  /// As in `RunLookup.defaultRun`.
  static let run = """
    \(namedRun) Default: within a task, the run of that task; else the live run of `.opflow` here or
    in the nearest folder above that has one, the newest of several; else the newest run there.
    """

  static let resumedRun = """
    \(namedRun) Default: the newest run of `.opflow` here or in the nearest folder above that has one.
    """

  private static let namedRun = """
    RUN is a run's id, the start of one that fits no other, or a manifest's path, which stands for its
    newest run.
    """
}

package enum CompletionShell: String, CaseIterable, Sendable {
  case bash, zsh, fish

  /// The internal subcommand for completion scripts.
  package static let question = "__complete"
}
