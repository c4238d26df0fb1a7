internal import OpflowPlan

extension TaskGraph {
  var hasOpenFinally: Bool {
    plan.tasks.contains {
      plan.flags(TaskID($0)).contains(.finally) && state(TaskID($0)) == .waiting
    }
  }

  /// Takes the `finally` tasks that must run because this task starts; with `afterNeeds` only after
  /// their own dependencies.
  mutating func takeFinallyDue(after task: TaskID) -> [TaskID] {
    let due = finallyThatMayKeep.filter { (finally) in
      !has(.afterNeeds, finally)
        || plan.needs(finally).contains { TaskID(plan.needTargets[$0]) == task }
    }
    if !due.isEmpty { finallyThatMayKeep.removeAll { due.contains($0) } }
    return due
  }

  /// A dependency that never ran meets only `finished`.
  mutating func openFinally() {
    defer { noteFinallyOpen() }
    for position in 0..<plan.taskCount {
      let task = TaskID(plan.topologicalOrder[position])
      guard plan.flags(task).contains(.finally), state(task) == .waiting else { continue }
      var missed = TaskID.none
      for edge in plan.needs(task) {
        let need = TaskID(plan.needTargets[edge])
        if state(need).isTerminal || plan.flags(need).contains(.finally) || has(.offered, need) {
          continue
        }
        if plan.needCondition(edge) == .finished {
          meetOne(of: task)
        } else {
          missed = need
        }
      }
      if !missed.isNone {
        skip(task, for: missed)
        spreadSkips()
        continue
      }
      meetOne(of: task)
      guard unmetNeeds(of: task) == 0 else { continue }
      release(task)
      spreadSkips()
    }
  }
}
