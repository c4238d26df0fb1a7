/// What a drive has of the one before it that was lost, where it goes on with that.
extension RunModel {
  /// Whether the newest drive was lost, and a resume goes on with it.
  package func isContinued(by request: ResumeRequest) -> Bool {
    request.keepsEnds && close == nil
  }

  /// What tasks without an end have had of their tries, and what is left of the delay before the next one. A service
  /// starts again at once.
  ///
  /// - Parameter wall: now, in milliseconds since the epoch. A clock that was set back makes no delay longer than it may be.
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

  /// The orders that hold in the next drive. One to cancel a task holds where the task was lost before it had its end, and
  /// where that end was to be cancelled, if nobody asks for it by name.
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
