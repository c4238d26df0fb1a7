/// What a journal tells of values that tasks leave for each other: for a plan in which some are read.
package struct ValueRecords: Sendable {
  /// Of tasks that succeeded or are up to date, without texts, which no line has. None of those whose values nobody was to
  /// read then: nothing of them was kept.
  package private(set) var left: [TaskID: ValueSet] = [:]
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
    case .success:
      let values = line.values
      left[task] = values.left.map { ValueSet(attempt: TransitionFields(line).attempt, $0) }
      read[task] = values.with
    case .failure:
      left[task] = nil
      read[task] = line.values.with
    case .fresh:
      let values = line.values
      // What keeps its result unlooked at has what it had.
      if values.left == nil, TransitionFields(line).isKept { return }
      left[task] = values.left.map { ValueSet(attempt: ValueFolder.ofRecord, $0) }
      read[task] = values.with
    case .retry, .skip, .cancel, .interrupt, .pause, .proceed, .ready, .stopping: break
    }
  }

  /// Whether the values that a task reads, and its arguments, are still those that it ended with.
  func isCurrent(_ task: TaskID, _ plan: Plan, arguments: [String]) -> Bool {
    read[task] == plan.valueDigest(of: task, arguments: arguments) { left[$0]?.values ?? [] }
  }
}
