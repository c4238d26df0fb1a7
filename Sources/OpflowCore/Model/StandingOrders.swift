/// What was ordered of a drive that was lost, as far as it holds in the one that goes on with it
/// (`ResumeEntry.continues`).
package struct StandingOrders: Equatable, Sendable {
  /// Nothing new starts.
  package var isPaused = false
  /// Tasks that were suspended; some may have an end.
  package var onHold: [TaskID] = []
  /// Tasks that were cancelled; those among them without an end ran, and are not to run again.
  package var cancelled: [TaskID] = []
  /// By the resource's number in the plan.
  package var capacities: [Int: UInt64] = [:]
  /// By which signal somebody was ending the run.
  package var stopSignal: Int32?
  /// Somebody cancelled the whole run.
  package var isCancelled = false

  package init() {}
}

extension OrderRecords {
  /// A run that was ended since no machine or program was left is judged anew.
  package func standing(_ plan: Plan) -> StandingOrders {
    var standing = StandingOrders()
    standing.isPaused = pausedBy != nil
    standing.onHold = tasks(.suspend).sorted { $0.rawValue < $1.rawValue }
    standing.cancelled = tasks(.cancel).sorted { $0.rawValue < $1.rawValue }
    standing.isCancelled = stoppedBy != nil
    if stopReason.isEmpty { standing.stopSignal = stopSignal }
    for record in capacities {
      let resource = plan.resources.firstIndex { plan.string($0.name) == record.carried.resource }
      if let resource, let amount = record.carried.number.flatMap(UInt64.init(exactly:)) {
        standing.capacities[resource] = amount
      }
    }
    return standing
  }
}
