package import OpflowPlan

/// Parser, help and hints are made from the commands' rows.
package enum Command: Hashable, CaseIterable, Sendable {
  case run, serve, resume, check, plan
  case tasks, status, why, wait, logs, runs, graph, report, journal
  /// A request to a live run.
  case order(OrderVerb)
  case add, clean, initialize, schema, completion, version, help

  /// In the order of the help.
  package static let allCases: [Command] =
    beforeOrders + OrderVerb.allCases.filter { $0 != .close }.map { .order($0) }
    + [.add, .order(.close), .clean, .initialize, .schema, .completion, .version, .help]

  private static let beforeOrders: [Command] = [
    .run, .serve, .resume, .check, .plan, .tasks, .status, .why, .wait, .logs, .runs, .graph,
    .report, .journal,
  ]

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

  init?(named word: String) {
    // The most frequent commands come first, without building `allCases`.
    if let command = Self.beforeOrders.first(where: { $0.word == word }) {
      self = command
    } else if let command = Self.allCases.first(where: { $0.word == word }) {
      self = command
    } else {
      return nil
    }
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

  /// After `opflow`.
  package var synopsis: String {
    let row = row
    let words = row.words.synopsis
    return word + words.before + (row.flags.isEmpty ? "" : " [FLAGS]") + words.behind
  }
}
