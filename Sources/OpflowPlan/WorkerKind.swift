/// The program and actions of a worker. A new one needs a case and a row here, its number and
/// prefetch limit (`WorkerPool`), its tasks (`Plan.workerKind`), and its program (`WorkerProgram`).
package enum WorkerKind: UInt8, CaseIterable, Sendable {
  case command
  case download
  /// Runs commands in the terminal's session. There is one, on the coordinator's machine.
  case terminal
  case check
  /// Not limited by the run's resources.
  case service
  /// Not launched: one attempt of an external task in a client.
  case block

  package var row: WorkerKindRow {
    switch self {
    case .command: WorkerKindRow(action: .run, relayWord: "command", overdue: Self.overdueTask)
    // The timeout covers the transfer; the final fsync may take longer.
    case .download: WorkerKindRow(action: .download, relayWord: "download")
    case .terminal: WorkerKindRow(action: .run, overdue: Self.overdueTask)
    case .check: WorkerKindRow(action: .run, relayWord: "check", overdue: Self.overdueTask)
    case .service:
      WorkerKindRow(
        action: .run, relayWord: "service",
        overdue: "it did not report in time whether its service is ready")
    case .block: WorkerKindRow(action: .block)
    }
  }

  private static let overdueTask = "it did not end a task after the timeout"
}

package struct WorkerKindRow: Sendable {
  package let action: WorkerActions
  /// The word in the connection to another node; nil if the worker always runs with the
  /// coordinator.
  package var relayWord: StaticString?
  /// nil if the worker may take longer.
  package var overdue: String?
}

extension Plan {
  @inline(__always)
  package func workerKind(of task: TaskID) -> WorkerKind? {
    if hasServices, isService(task) { return .service }
    return switch kind(task) {
    case .shell, .command:
      hasInteractive && flags(task).contains(.interactive) ? .terminal : .command
    case .download: .download
    case .block: .block
    case .approve: nil
    }
  }

  /// True if the session's first task is a command that starts at once: its worker is then launched
  /// early.
  package func beginsWithCommand(_ initial: [InitialState]) -> Bool {
    guard let first = initial.firstIndex(of: .run) else { return false }
    let task = TaskID(first)
    return workerKind(of: task) == .command && needs(task).isEmpty && !isChecked(task)
      && !flags(task).contains(.conditionFalse)
  }
}

package struct WorkerOffer: Equatable, Sendable {
  /// Cores that its tasks may use at once; at least 1.
  package var cores: Int
  /// nil if unknown.
  package var memoryBytes: Int64?
  package var actions: WorkerActions

  package init(cores: Int, memoryBytes: Int64? = nil, actions: WorkerActions) {
    self.cores = cores
    self.memoryBytes = memoryBytes
    self.actions = actions
  }
}

package struct WorkerActions: OptionSet, Equatable, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let run = WorkerActions(rawValue: 1)
  package static let download = WorkerActions(rawValue: 2)
  /// Offered by clients.
  package static let block = WorkerActions(rawValue: 4)
  package static let all = WorkerActions(rawValue: 3)

  package static let words: [(action: WorkerActions, word: StaticString)] = [
    (.run, "run"), (.download, "download"), (.block, "block"),
  ]

  /// `run, download`.
  package var text: String {
    Self.words.filter { contains($0.action) }.map { $0.word.description }.joined(separator: ", ")
  }
}
