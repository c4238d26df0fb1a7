package import OpflowPlan

/// Requests of a crashed session that hold in the one that continues it.
package struct StandingOrders: Equatable, Sendable {
  /// No task starts.
  package var isPaused = false
  /// Some may have ended.
  package var onHold: [TaskID] = []
  /// Those without an end were running, and must not run again.
  package var cancelled: [TaskID] = []
  /// By the resource's number in the plan.
  package var capacities: [Int: UInt64] = [:]
  package var stopSignal: Int32?
  package var isCancelled = false

  package init() {}
}

extension OrderRecords {
  /// Omits a stop for lack of nodes or clients, which is decided again.
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
