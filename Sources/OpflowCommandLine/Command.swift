/// The commands of opflow, in the order of the help: one row each. Parser, help and hints are made of
/// these rows.
package enum Command: String, CaseIterable, Sendable {
  case run, serve, resume, check, plan
  case tasks, status, why, wait, logs, runs, graph, report, journal
  case cancel, pause
  case proceed = "continue"
  case suspend, priority, parallel, retry, skip, approve, reject, add, close
  case clean
  case initialize = "init"
  case schema, completion, version, help

  /// The command of that name. Looks through the names: the standard library would first make a table
  /// of them, for the one word that a program is given.
  init?(named word: String) {
    guard let name = Self.allCases.first(where: { $0.rawValue == word }) else { return nil }
    self = name
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
    case .cancel: .cancel
    case .pause: .pause
    case .proceed: .proceed
    case .suspend: .suspend
    case .priority: .priority
    case .parallel: .parallel
    case .retry: .retry
    case .skip: .skip
    case .approve: .approve
    case .reject: .reject
    case .add: .add
    case .close: .close
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
    return rawValue + words.before + (row.flags.isEmpty ? "" : " [FLAGS]") + words.behind
  }
}
