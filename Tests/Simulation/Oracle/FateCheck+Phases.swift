import OpflowEngine
import OpflowJournal
import OpflowPlan

/// What starts in each part of a drive.
extension FateCheck {
  /// Tasks that `max_failures` does not hold back: `finally` tasks, those with an edge that a
  /// failure met, and what those need.
  func exempt(_ counts: (TaskID) -> Bool) -> Set<TaskID> {
    var open: [TaskID] = []
    for index in plan.tasks {
      let task = TaskID(index)
      if plan.flags(task).contains(.finally) { open.append(task) }
      guard session.engine.state(task) == .failed else { continue }
      for edge in plan.dependents(task)
      where [.failure, .finished].contains(plan.dependentCondition(edge)) {
        open.append(plan.dependent(edge))
      }
    }
    var exempt: Set<TaskID> = []
    while let task = open.popLast() {
      guard counts(task), exempt.insert(task).inserted else { continue }
      for edge in plan.needs(task) { open.append(TaskID(plan.needTargets[edge])) }
    }
    return exempt
  }

  /// Once `max_failures` is reached, nothing starts but what it does not hold back.
  func checkHalt() throws(Finding) {
    // What was exempt when it started need not be so in the end.
    guard isHalted, retried.isEmpty else { return }
    let mayStart = exempt { _ in true }
    var failures = 0
    for line in session.lines.lazy.map(\.transition) {
      if line.event == .failure, !line.allowed { failures += 1 }
      // A service starts with what needs it.
      if !line.task.isNone, plan.isService(line.task) { continue }
      if line.event == .start, failures >= session.options.maxFailures,
        !mayStart.contains(line.task)
      {
        throw fault(line.task, "it started after max_failures was reached")
      }
    }
  }

  func checkFinallyComesLast() throws(Finding) {
    var began = false
    // A request may end at any time what has no end yet, and so what needs that.
    let isRequested = session.lines.contains { $0.isRequested && !$0.transition.isLate }
    for line in session.lines.lazy.filter({ !$0.isRequested }).map(\.transition)
    where !line.task.isNone && !plan.isService(line.task) {
      if plan.flags(line.task).contains(.finally) {
        if line.event == .start { began = true }
      } else if began {
        if isRequested, case .skip(.upstream) = line.event { continue }
        // It lacks a service by that, and was skipped for want of it before.
        if isRequested, line.event == .fresh, line.kept == .skipped { continue }
        throw fault(
          line.task, "'\(line.event.kind.word)' after the first `finally` task had started")
      }
    }
  }
}
