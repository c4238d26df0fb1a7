/// Which program a worker is, and so which actions it can do.
///
/// A new one is a case and a row here, how many of it there are and what each is handed ahead (`Crew.swift`), the tasks
/// that it gets (`PlanWorkers.swift`), and its program (`WorkerProgram`).
package enum WorkerKind: UInt8, CaseIterable, Sendable {
  case command
  case download
  /// Runs commands in the terminal's session, one of this machine's alone: so no two tasks have the
  /// terminal at once.
  case terminal
  /// Looks whether tasks are up to date, and runs none.
  case check
  /// Runs one service at a time, and looks whether it is ready: beyond those that tasks share out.
  case service
  /// Not launched: one try of a block in a program that came by itself.
  case block

  package var row: WorkerKindRow {
    switch self {
    case .command:
      WorkerKindRow(action: .run, relayWord: "command", overdue: Self.overdueTask)
    // Its time is for the transfer. To make durable what was transferred may take longer.
    case .download: WorkerKindRow(action: .download, relayWord: "download")
    case .terminal: WorkerKindRow(action: .run, overdue: Self.overdueTask)
    case .check: WorkerKindRow(action: .run, relayWord: "check", overdue: Self.overdueTask)
    case .service:
      WorkerKindRow(
        action: .run, relayWord: "service",
        overdue: "it neither said that its service is ready nor gave it up in time")
    case .block: WorkerKindRow(action: .block)
    }
  }

  private static let overdueTask = "it did not end a task whose time was up"
}

/// What there is to know of a kind of worker.
package struct WorkerKindRow: Sendable {
  /// What a worker of the kind must be able to do.
  package let action: WorkerActions
  /// How a stream to another machine names it; nil for one that is where the coordinator is: at its terminal.
  var relayWord: StaticString?
  /// What is said of one that has not ended a task in the time that it had; nil where it may take longer.
  var overdue: String?
}
