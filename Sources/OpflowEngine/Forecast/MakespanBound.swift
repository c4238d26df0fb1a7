package import OpflowJournal
package import OpflowPlan

/// A lower bound for any order of the tasks.
package enum MakespanBound {
  /// Returns the critical path, or the largest resource use over time by capacity if longer; in the
  /// units of `TaskDurations`.
  package static func of(
    plan: Plan, options: SchedulerOptions, starts: [TaskID], durations: TaskDurations,
    criticalPath: Int64
  ) -> Int64 {
    let capacities = options.capacities(of: plan)
    // By demand. Doubles, since bytes times microseconds exceed 64 bits.
    var time = [Double](repeating: 0, count: plan.demandCount)
    for task in starts where !plan.isService(task) {
      time[Int(plan.demand[task.index])] += Double(durations[task])
    }
    var held = [Double](repeating: 0, count: capacities.count)
    for demand in time.indices where time[demand] > 0 {
      for item in plan.demandList(UInt32(truncatingIfNeeded: demand)) {
        // A task that wants more runs alone.
        let amount = min(item.amount, capacities[Int(item.resource)])
        held[Int(item.resource)] += time[demand] * Double(amount)
      }
    }
    var bound = Double(criticalPath)
    for (resource, capacity) in capacities.enumerated() where capacity > 0 {
      bound = max(bound, held[resource] / Double(capacity))
    }
    return Int64(min(bound, 9e18))
  }
}
