extension Plan {
  /// The kind of worker that a task gets; nil for a gate, which no worker has.
  @inline(__always)
  func workerKind(of task: TaskID) -> WorkerKind? {
    if hasServices, isService(task) { return .service }
    return switch kind(task) {
    case .shell, .command:
      hasInteractive && flags(task).contains(.interactive) ? .terminal : .command
    case .download: .download
    case .block: .block
    case .approve: nil
    }
  }

  /// Whether the first task that is to run in a drive wants a worker for commands at once: a command that waits for
  /// nothing, and that no other worker has to look at before.
  ///
  /// - Parameter initial: how the tasks enter the drive.
  package func beginsWithCommand(_ initial: [InitialState]) -> Bool {
    guard let first = initial.firstIndex(of: .run) else { return false }
    let task = TaskID(first)
    return workerKind(of: task) == .command && needs(task).isEmpty && !isChecked(task)
      && !flags(task).contains(.conditionFalse)
  }
}
