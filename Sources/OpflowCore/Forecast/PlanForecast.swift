/// What a drive of a plan would do, and how long it would take: in all, on its critical path, and with
/// each of some capacities of `cpu`.
package struct PlanForecast {
  /// One capacity of `cpu` and what comes of it, in what `TaskDurations` counts in.
  package struct Row {
    package let maxParallel: UInt64
    package let makespan: Int64
    /// No order of the tasks would be shorter.
    package let bound: Int64
  }

  /// With the first capacity, in the order of their starts.
  package let starts: [TaskID]
  /// Skips, and failures of tasks that an earlier crash interrupted.
  package let settled: [Transition]
  package let files: FilesForeseen
  package let path: CriticalPath
  /// One for each capacity; none where nothing starts.
  package let rows: [Row]
  package let durations: TaskDurations

  /// - Parameters:
  ///   - capacities: of `cpu`; at least one.
  ///   - foresight: asked once about each task; see `RunForecast`.
  package init(
    plan: Plan, options: SchedulerOptions, entering: Entering, capacities: [UInt64],
    foresight: FileForesight? = nil
  ) {
    precondition(!capacities.isEmpty, "a forecast is made for some capacity")
    durations = entering.durations
    var starts: [TaskID] = []
    var settled: [Transition] = []
    var files = FilesForeseen()
    var seen: [TaskID: FileForecast] = [:]
    let once: FileForesight? = foresight.map { foresight in
      { check, before in
        // What runs is no matter of the capacity.
        if let known = seen[check.task] { return known }
        let found = foresight(check, before)
        seen[check.task] = found
        return found
      }
    }
    var makespans: [Int64] = []
    for (place, capacity) in capacities.enumerated() where place == 0 || !starts.isEmpty {
      var options = options
      options.maxParallel = capacity
      let run = RunForecast(
        plan: plan, options: options, entering: entering, foresight: once)
      makespans.append(run.makespan)
      if place == 0 { (starts, settled, files) = (run.starts, run.settled, run.files) }
    }
    (self.starts, self.settled, self.files) = (starts, settled, files)
    let path = CriticalPath(plan: plan, starts: starts, durations: durations)
    self.path = path
    let durations = durations
    rows =
      starts.isEmpty
      ? []
      : zip(capacities, makespans).map { capacity, makespan in
        var options = options
        options.maxParallel = capacity
        return Row(
          maxParallel: capacity, makespan: makespan,
          bound: MakespanBound.of(
            plan: plan, options: options, starts: starts, durations: durations,
            criticalPath: path.length))
      }
  }
}
