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

  /// Whether the session's first task is a command that starts at once: then its worker is launched
  /// early.
  ///
  /// - Parameter initial: the tasks' states at the start of the session.
  package func beginsWithCommand(_ initial: [InitialState]) -> Bool {
    guard let first = initial.firstIndex(of: .run) else { return false }
    let task = TaskID(first)
    return workerKind(of: task) == .command && needs(task).isEmpty && !isChecked(task)
      && !flags(task).contains(.conditionFalse)
  }
}
