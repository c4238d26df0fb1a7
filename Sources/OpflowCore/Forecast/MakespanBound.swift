/// The time below which no order of the tasks can bring a run.
package enum MakespanBound {
  /// The critical path, or all that tasks hold of a resource over time divided by how much there is of
  /// it, whichever is longer; in what `TaskDurations` counts in.
  package static func of(
    plan: Plan, options: SchedulerOptions, starts: [TaskID], durations: TaskDurations,
    criticalPath: Int64
  ) -> Int64 {
    let capacities = options.capacities(of: plan)
    // By demand, since many tasks share one. Doubles: bytes times microseconds leave 64 bits.
    var time = [Double](repeating: 0, count: plan.demandCount)
    // How long a service is up follows from when its users run.
    for task in starts where !plan.isService(task) {
      time[Int(plan.demand[task.index])] += Double(durations[task])
    }
    var held = [Double](repeating: 0, count: capacities.count)
    for demand in time.indices where time[demand] > 0 {
      for item in plan.demandList(UInt32(truncatingIfNeeded: demand)) {
        // A task that wants more than there is runs alone.
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
