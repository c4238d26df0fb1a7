import OpflowEngine
import OpflowJournal
import OpflowPlan

/// Checks what may start in each phase of a session.
extension FateCheck {
  /// Tasks that `max_failures` does not hold back: `finally` tasks, tasks with a condition that a
  /// failure met, and the dependencies of both.
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

  /// Checks that only exempt tasks start after `max_failures` is reached.
  func checkHalt() throws(Finding) {
    // A retry may change which tasks are exempt.
    guard isHalted, retried.isEmpty else { return }
    let mayStart = exempt { _ in true }
    var failures = 0
    for line in session.lines.lazy.map(\.transition) {
      if line.event == .failure, !line.allowed { failures += 1 }
      // A service starts with its first user.
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
    // A request may end pending tasks at any time, and thereby their dependents.
    let isRequested = session.lines.contains { $0.isRequested && !$0.transition.isLate }
    for line in session.lines.lazy.filter({ !$0.isRequested }).map(\.transition)
    where !line.task.isNone && !plan.isService(line.task) {
      if plan.flags(line.task).contains(.finally) {
        if line.event == .start { began = true }
      } else if began {
        if isRequested, case .skip(.upstream) = line.event { continue }
        // Without that task it lacks a service, and was skipped for that before.
        if isRequested, line.event == .fresh, line.kept == .skipped { continue }
        throw fault(
          line.task, "'\(line.event.kind.word)' after the first `finally` task had started")
      }
    }
  }
}
