/// What a journal tells of values that tasks leave for each other: for a plan in which some are read.
package struct ValueRecords: Sendable {
  /// Of tasks that succeeded, without texts, which no line has.
  package private(set) var left: [TaskID: [TaskValue]] = [:]
  /// A hash of what tasks read with which they ended.
  private var read: [TaskID: UInt64] = [:]

  mutating func apply(_ event: TransitionKind, _ task: TaskID, _ line: JournalLine, _ plan: Plan) {
    let flags = plan.flags(task)
    guard flags.contains(.leavesValues) || flags.contains(.readsValues) else { return }
    switch event {
    case .start, .resume:
      left[task] = nil
      read[task] = nil
    case .success, .failure:
      let values = line.values
      left[task] = event == .success && !values.left.isEmpty ? values.left : nil
      read[task] = values.with
    case .retry, .skip, .cancel, .interrupt, .pause, .proceed: break
    }
  }

  /// Whether the values that a task reads are still those that it ended with.
  func isCurrent(_ task: TaskID, _ plan: Plan) -> Bool {
    read[task] == plan.valueDigest(of: task) { left[$0] ?? [] }
  }
}
