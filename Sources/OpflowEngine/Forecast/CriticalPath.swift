package import OpflowJournal
package import OpflowPlan

/// A run takes at least as long with any number of workers.
package struct CriticalPath {
  /// In start order.
  package let tasks: [TaskID]
  /// In the units of `TaskDurations`.
  package let length: Int64

  /// - Parameter starts: the tasks that run; others take no time.
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
  /// By task: the earliest end, and the last dependency before it.
  private var ends: [Int64]
  private var previous: [TaskID]
  private var last = TaskID.none
  private var lastEnd: Int64 = 0
  /// The end of all other tasks, after which `finally` tasks start.
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
      // A service is up as long as its users, which count themselves.
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
