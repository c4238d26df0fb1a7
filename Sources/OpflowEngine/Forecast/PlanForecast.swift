package import OpflowJournal
package import OpflowPlan

/// What a session would do, and how long it takes with each capacity of `cpu`.
package struct PlanForecast {
  /// For one capacity, in the units of `TaskDurations`.
  package struct Row {
    package let maxParallel: UInt64
    package let makespan: Int64
    /// No order of the tasks is faster.
    package let bound: Int64
  }

  /// With the first capacity, in order.
  package let starts: [TaskID]
  /// Skips, and failures of tasks that an earlier crash interrupted.
  package let settled: [Transition]
  package let files: FilesForeseen
  package let path: CriticalPath
  /// One per capacity; empty if nothing starts.
  package let rows: [Row]
  package let durations: TaskDurations

  /// - Parameter foresight: called once per task.
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
        // The result is the same for all capacities.
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

package struct FilesForeseen: Equatable, Sendable {
  /// In the order of checking.
  package internal(set) var upToDate: [TaskID] = []
  /// Further tasks that keep an earlier result of the run.
  package internal(set) var keptCount = 0
  /// Why tasks run, for people; not for all.
  package internal(set) var reasons: [TaskID: String] = [:]
  /// Restored from the cache.
  package internal(set) var cached: Set<TaskID> = []
  /// Tasks that may turn out up to date -> the first task this depends on.
  package internal(set) var unsure: [TaskID: TaskID] = [:]
}
