/// What a journal tells of values that tasks leave for each other: for a plan in which some are read.
package struct ValueRecords: Sendable {
  /// Of tasks that succeeded, without texts, which no line has. None of those whose values nobody was to
  /// read then: nothing of them was kept.
  package private(set) var left: [TaskID: [TaskValue]] = [:]
  /// A hash of what tasks read with which they ended.
  private var read: [TaskID: UInt64] = [:]

  /// - Parameter hasArguments: some task got arguments.
  mutating func apply(
    _ event: TransitionKind, _ task: TaskID, _ line: JournalLine, _ plan: Plan, hasArguments: Bool
  ) {
    let flags = plan.flags(task)
    guard hasArguments || flags.contains(.leavesValues) || flags.contains(.readsValues) else {
      return
    }
    switch event {
    case .start, .resume:
      left[task] = nil
      read[task] = nil
    case .success, .failure, .fresh:
      if event == .fresh, TransitionFields(line).isKept { return }
      let values = line.values
      left[task] = event == .failure ? nil : values.left
      read[task] = values.with
    case .retry, .skip, .cancel, .interrupt, .pause, .proceed: break
    }
  }

  /// Whether the values that a task reads, and its arguments, are still those that it ended with.
  func isCurrent(_ task: TaskID, _ plan: Plan, arguments: [String]) -> Bool {
    read[task] == plan.valueDigest(of: task, arguments: arguments) { left[$0] ?? [] }
  }
}
