package import OpflowCore

/// The commands of opflow: one row each. Parser, help and hints are made of these rows.
package enum Command: Hashable, CaseIterable, Sendable {
  case run, serve, resume, check, plan
  case tasks, status, why, wait, logs, runs, graph, report, journal
  /// Asks something of a run that goes on.
  case order(OrderVerb)
  case add, clean, initialize, schema, completion, version, help

  /// In the order of the help: the end of what grows stands behind what adds to it.
  package static let allCases: [Command] =
    beforeOrders + OrderVerb.allCases.filter { $0 != .close }.map { .order($0) }
    + [.add, .order(.close), .clean, .initialize, .schema, .completion, .version, .help]

  private static let beforeOrders: [Command] = [
    .run, .serve, .resume, .check, .plan, .tasks, .status, .why, .wait, .logs, .runs, .graph,
    .report, .journal,
  ]

  /// As it is typed.
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
    case .order(let verb): verb.rawValue
    case .add: "add"
    case .clean: "clean"
    case .initialize: "init"
    case .schema: "schema"
    case .completion: "completion"
    case .version: "version"
    case .help: "help"
    }
  }

  /// The command of that name.
  init?(named word: String) {
    // Those that are called most come first, and the list of all is not made for them.
    if let command = Self.beforeOrders.first(where: { $0.word == word }) {
      self = command
    } else if let command = Self.allCases.first(where: { $0.word == word }) {
      self = command
    } else {
      return nil
    }
  }

  /// Made when it is asked for, of the one command that is called.
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
    case .order(let verb): .order(verb)
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

  /// What follows `opflow`, in short.
  package var synopsis: String {
    let row = row
    let words = row.words.synopsis
    return word + words.before + (row.flags.isEmpty ? "" : " [FLAGS]") + words.behind
  }
}
