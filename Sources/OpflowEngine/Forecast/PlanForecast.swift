package import OpflowJournal
package import OpflowPlan

package struct PlanForecast {
  /// In the units of `TaskDurations`.
  package struct Row {
    package let maxParallel: UInt64
    package let makespan: Int64
    /// No order of the tasks is faster.
    package let bound: Int64
  }

  /// With the first capacity, in order.
  package let starts: [TaskID]
  /// Skips, and failures of tasks that a crash interrupted.
  package let settled: [Transition]
  package let files: FilesForeseen
  package let path: CriticalPath
  /// One per capacity; empty if nothing starts.
  package let rows: [Row]
  package let durations: TaskDurations

  /// - Parameter foresight: Called once per task.
  package init(
    plan: Plan, options: SchedulerOptions, resumeState: ResumeState, capacities: [UInt64],
    foresight: FileForesight? = nil
  ) {
    precondition(!capacities.isEmpty, "a forecast is made for some capacity")
    durations = resumeState.durations
    var starts: [TaskID] = []
    var settled: [Transition] = []
    var files = FilesForeseen()
    var seen: [TaskID: FileForecast] = [:]
    let once: FileForesight? = foresight.map { foresight in
      { check, before in
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
      let run = RunForecast(plan: plan, options: options, resumeState: resumeState, foresight: once)
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
  /// Other tasks that keep an earlier result.
  package internal(set) var keptCount = 0
  /// Why tasks run, for people; not for all tasks.
  package internal(set) var reasons: [TaskID: String] = [:]
  package internal(set) var cached: Set<TaskID> = []
  /// Tasks that may turn out up to date -> the first task this depends on.
  package internal(set) var unsure: [TaskID: TaskID] = [:]
}

/// No number of workers makes a run faster.
package struct CriticalPath {
  package let tasks: [TaskID]
  /// In the units of `TaskDurations`.
  package let length: Int64

  /// - Parameter starts: The tasks that run; others take no time.
  package init(plan: Plan, starts: [TaskID], durations: TaskDurations) {
    var runs = [Bool](repeating: false, count: plan.taskCount)
    for task in starts { runs[task.index] = true }
    var search = PathSearch(plan: plan, durations: durations, runs: runs)
    search.visit { !plan.flags($0).contains(.finally) }
    search.beginFinally()
    search.visit { plan.flags($0).contains(.finally) }
    (tasks, length) = search.result()
  }
}

private struct PathSearch {
  let plan: Plan
  let durations: TaskDurations
  let runs: [Bool]
  /// Earliest ends; next, the last dependency before each.
  private var ends: [Int64]
  private var previous: [TaskID]
  private var last = TaskID.none
  private var lastEnd: Int64 = 0
  /// After this end, `finally` tasks start.
  private var first = TaskID.none
  private var firstEnd: Int64 = 0

  init(plan: Plan, durations: TaskDurations, runs: [Bool]) {
    self.plan = plan
    self.durations = durations
    self.runs = runs
    ends = [Int64](repeating: 0, count: plan.taskCount)
    previous = [TaskID](repeating: .none, count: plan.taskCount)
  }

  mutating func beginFinally() {
    first = last
    firstEnd = lastEnd
  }

  mutating func visit(where isWanted: (TaskID) -> Bool) {
    for index in plan.topologicalOrder {
      let task = TaskID(index)
      guard isWanted(task) else { continue }
      var start = firstEnd
      var before = first
      for edge in plan.needs(task) {
        let need = TaskID(plan.needTargets[edge])
        if ends[need.index] > start {
          start = ends[need.index]
          before = runs[need.index] ? need : previous[need.index]
        }
      }
      previous[task.index] = before
      guard runs[task.index] else {
        ends[task.index] = start
        continue
      }
      // A service is up as long as its users, whose time is on the path already.
      let length = plan.isService(task) ? 0 : durations[task]
      let end = start.addingReportingOverflow(length)
      ends[task.index] = end.overflow ? .max : end.partialValue
      if ends[task.index] > lastEnd {
        lastEnd = ends[task.index]
        last = task
      }
    }
  }

  func result() -> ([TaskID], Int64) {
    var path: [TaskID] = []
    var task = last
    while !task.isNone {
      path.append(task)
      task = previous[task.index]
    }
    return (path.reversed(), lastEnd)
  }
}

/// A lower bound for any order of the tasks.
package enum MakespanBound {
  /// Returns the critical path, or if longer the largest resource use by capacity.
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
