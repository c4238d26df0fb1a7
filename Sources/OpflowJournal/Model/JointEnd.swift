package import OpflowPlan

package enum JointEnd: Equatable, Sendable {
  case open(count: Int, first: TaskID)
  /// Includes allowed failures and skips.
  case good
  /// This task failed, or was skipped because of a failure.
  case failed(TaskID)
  /// No task failed, and this one was cancelled.
  case cancelled(TaskID)
}

extension RunModel {
  package func end(of tasks: [TaskID]) -> JointEnd {
    var failed = TaskID.none
    var cancelled = TaskID.none
    var open = TaskID.none
    var count = 0
    for task in tasks {
      switch state(task) {
      case .waiting, .ready, .checking, .handed, .running, .suspended:
        if open.isNone { open = task }
        count += 1
      case .failed: if failed.isNone { failed = task }
      case .skipped: if failed.isNone, isSkippedByFailure(task) { failed = task }
      case .cancelled: if cancelled.isNone { cancelled = task }
      case .succeeded, .upToDate, .failedAllowed: break
      }
    }
    if count > 0 { return .open(count: count, first: open) }
    if !failed.isNone { return .failed(failed) }
    return cancelled.isNone ? .good : .cancelled(cancelled)
  }

  /// The chain of skips leads to a failure. An unneeded failure handler is skipped too.
  private func isSkippedByFailure(_ task: TaskID) -> Bool {
    var task = task
    // A damaged journal may contain a cycle.
    for _ in 0..<Self.longestChain {
      guard case .skipped(.upstream(let need)) = self[task].why else { return false }
      if need.isNone { return true }
      switch state(need) {
      case .failed, .cancelled: return true
      case .skipped: task = need
      case .waiting, .ready, .checking, .handed, .running, .suspended, .succeeded, .upToDate,
        .failedAllowed:
        return false
      }
    }
    return true
  }

  private static let longestChain = 1_000_000
}
