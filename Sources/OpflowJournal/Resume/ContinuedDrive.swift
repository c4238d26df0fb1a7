internal import OpflowBase
package import OpflowPlan

/// What a session takes over from a crashed one.
extension RunModel {
  /// The last session crashed and a resume continues it.
  package func isContinued(by request: ResumeRequest) -> Bool {
    request.keepsEnds && close == nil
  }

  /// The attempts of unfinished tasks and the rest of their retry delays; services restart at once.
  ///
  /// - Parameter wall: milliseconds since the epoch. If that clock was set back, delays are capped.
  package func triesUsed(
    _ plan: Plan, for request: ResumeRequest, at wall: Int64
  ) -> [TaskID: TriesUsed] {
    guard isContinued(by: request) else { return [:] }
    var used: [TaskID: TriesUsed] = [:]
    for (task, count) in tries.used where !request.reruns(task) {
      used[task, default: TriesUsed()].count = count
    }
    for (task, next) in tries.next
    where self[task].state == .waiting && !request.reruns(task) && !plan.isService(task) {
      let most = Int64(plan.policy(task).retryMaxDelayMilliseconds)
      used[task, default: TriesUsed()].delayMilliseconds = min(max(0, next.minus(wall)), most)
    }
    return used
  }

  /// The requests in force: a cancel request only if the task has not ended or was cancelled, and
  /// the user does not rerun it.
  package func standing(_ plan: Plan, for request: ResumeRequest) -> StandingOrders {
    guard isContinued(by: request) else { return StandingOrders() }
    var standing = orders.standing(plan)
    standing.cancelled.removeAll { task in
      let state = self[task].state
      return request.reruns(task) || state.isTerminal && state != .cancelled
    }
    return standing
  }
}
