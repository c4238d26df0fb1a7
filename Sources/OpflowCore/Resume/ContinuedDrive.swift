/// What a drive has of the one before it that was lost, where it goes on with that.
extension RunModel {
  /// Whether the newest drive was lost, and a resume goes on with it.
  package func isContinued(by request: ResumeRequest) -> Bool {
    request.keepsEnds && close == nil
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
