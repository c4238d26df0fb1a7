/// The program and actions of a worker.
///
/// To add one: a case and a row here, its number and prefetch limit (`Crew`), its tasks
/// (`Plan.workerKind`), its program (`WorkerProgram`).
package enum WorkerKind: UInt8, CaseIterable, Sendable {
  case command
  case download
  /// Runs commands in the terminal's session. There is one, on the coordinator's machine.
  case terminal
  /// Checks whether tasks are up to date.
  case check
  /// One service and its probe. Not limited by the run's resources.
  case service
  /// Not launched: one attempt of an external task in a client.
  case block

  package var row: WorkerKindRow {
    switch self {
    case .command:
      WorkerKindRow(action: .run, relayWord: "command", overdue: Self.overdueTask)
    // The timeout covers the transfer; the final fsync may take longer.
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

package struct WorkerKindRow: Sendable {
  package let action: WorkerActions
  /// In the connection to another node; nil if it always runs with the coordinator.
  package var relayWord: StaticString?
  /// The message if it does not end a task in time; nil if it may take longer.
  package var overdue: String?
}
