package import OpflowPlan

/// Values that tasks leave for each other.
package struct ValueRecords: Sendable {
  /// Without texts. Missing for tasks whose values no task was to read.
  package private(set) var left: [TaskID: ValueSet] = [:]
  /// A hash of the values that an ended task read.
  private var read: [TaskID: UInt64] = [:]

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
      // Unchecked results keep their values.
      if values.left == nil, TransitionFields(line).isKept { return }
      left[task] = values.left.map { ValueSet(attempt: ValueFolder.ofRecord, $0) }
      read[task] = values.with
    case .retry, .skip, .cancel, .interrupt, .pause, .proceed, .ready, .stopping: break
    }
  }

  func isCurrent(_ task: TaskID, _ plan: Plan, arguments: [String]) -> Bool {
    read[task] == plan.valueDigest(of: task, arguments: arguments) { left[$0]?.values ?? [] }
  }
}
