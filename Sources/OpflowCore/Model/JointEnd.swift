/// How some tasks of a run came out together, for one who waits for them.
package enum JointEnd: Equatable, Sendable {
  /// So many have no end yet; this is the first of them.
  case open(count: Int, first: TaskID)
  /// Each went well, as a run counts it: a failure may be allowed, a task skipped.
  case good
  /// This one failed, or never ran because of one that did.
  case failed(TaskID)
  /// None failed, and this one was stopped.
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

  /// Whether a failure stands at the end of the tasks because of which it was skipped: a task for the case
  /// of a failure that did not come is skipped too, and nothing is wrong with it.
  private func isSkippedByFailure(_ task: TaskID) -> Bool {
    var task = task
    // A damaged journal may speak of a circle.
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
