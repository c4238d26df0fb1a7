extension Scheduler {
  /// What is wrong with the scheduler's own state; nil when nothing is. Looks at everything, so it
  /// is for tests and simulations.
  package func checkInvariants() -> String? {
    var heldTasks: [TaskID: WorkerID] = [:]
    var holders: [Int] = []
    var ahead = 0
    var launching = [Int](repeating: 0, count: fleets.count)
    for worker in aliveWorkers {
      let record = workers[worker.index]
      for task in [record.current] + record.ahead.map(\.task) where !task.isNone {
        if heldTasks.updateValue(worker, forKey: task) != nil {
          return "task \(task.rawValue) is held twice"
        }
      }
      switch record.phase {
      case .gone: return "worker \(worker.rawValue) is gone and listed"
      case .idle:
        if !record.current.isNone || !record.ahead.isEmpty { return "an idle worker holds a task" }
        if fleets[Int(record.kind.rawValue)].idle.contains(worker) == record.isDiscarded {
          return "an idle worker hides, or one that is to end is offered"
        }
      case .launching:
        launching[Int(record.kind.rawValue)] += 1
        if !record.ahead.isEmpty { return "a launching worker was handed a task ahead" }
        if !record.current.isNone, state(record.current) != .ready {
          return "a task assigned to a launching worker is \(state(record.current))"
        }
      case .busy:
        if record.current.isNone, record.ahead.isEmpty { return "a busy worker holds nothing" }
      }
      ahead += record.ahead.count
      if record.ahead.count > fleets[Int(record.kind.rawValue)].maxAhead {
        return "a worker was handed \(record.ahead.count) tasks ahead"
      }
      let holder = record.holder
      if record.ahead.contains(where: { plan.demand[$0.task.index] != plan.demand[holder.index] }) {
        return "a task handed ahead wants what the one before it does not free"
      }
      if !holder.isNone { holders.append(Int(plan.demand[holder.index])) }
    }
    if heldTasks.count != heldByWorkers {
      return "\(heldByWorkers) tasks held, \(heldTasks.count) found"
    }
    if launching != fleets.map(\.launching) { return "launching workers are miscounted" }
    if ahead != aheadCount { return "\(aheadCount) tasks ahead, \(ahead) found" }
    for (resource, sum) in pool.held(by: holders).enumerated() {
      if sum > pool.capacity[resource] { return "resource \(resource) is exceeded" }
      if pool.free[resource] != pool.capacity[resource] - sum {
        return "resource \(resource) is miscounted"
      }
    }
    let queued = Set(ready.ranks.map { TaskID(ranking.task[Int($0)]) })
    if queued.count != ready.count { return "a task is queued twice" }
    let delayed = Set(timers.entries.map(\.task))
    for index in plan.tasks {
      if let problem = checkTask(
        TaskID(index), holder: heldTasks[TaskID(index)], queued: queued, delayed: delayed)
      {
        return "task \(plan.nameString(TaskID(index))): \(problem)"
      }
    }
    return nil
  }

  private func checkTask(
    _ task: TaskID, holder: WorkerID?, queued: Set<TaskID>, delayed: Set<TaskID>
  ) -> String? {
    let mark = marks[task.index]
    switch state(task) {
    case .handed, .running, .suspended:
      if holder == nil { return "runs nowhere" }
      if queued.contains(task) { return "runs and is queued" }
    case .ready:
      let assigned = holder.map { workers[$0.index].phase == .launching } ?? false
      let places = [queued.contains(task), assigned, mark.contains(.held)].filter { $0 }.count
      if places != 1 { return "is ready in \(places) places" }
      if unmet[task.index] != 0 { return "is ready with needs unmet" }
      if mark.contains(.held), mayStart(task) { return "is held back though it may start" }
    case .waiting:
      if queued.contains(task) { return "waits and is queued" }
      if phase == .begin { return nil }
      if unmet[task.index] == 0, !mark.contains(.delayed) { return "waits for nothing" }
      if mark.contains(.delayed), !delayed.contains(task), mayStart(task) {
        return "is delayed with no timer"
      }
      return checkUnmet(task)
    case .succeeded, .upToDate, .failedAllowed, .failed, .skipped, .cancelled:
      if holder != nil || queued.contains(task) { return "ended and still at work" }
    }
    return nil
  }

  private func checkUnmet(_ task: TaskID) -> String? {
    // What the end of the main phase left waiting is past.
    if phase != .main, !plan.flags(task).contains(.finally) { return nil }
    var open: Int32 = plan.flags(task).contains(.finally) && phase == .main ? 1 : 0
    for edge in plan.needs(task) {
      let need = TaskID(plan.needTargets[edge])
      if state(need) == .cancelled, stopCause != nil, !plan.flags(task).contains(.finally) {
        open += 1
      } else if !state(need).isTerminal {
        let isOver = phase != .main && !plan.flags(need).contains(.finally)
        if !isOver { open += 1 }
      } else if !state(need).meets(
        plan.needCondition(edge), skippedUpstream: marks[need.index].contains(.skippedUpstream))
      {
        return "waits though a need cannot be met"
      }
    }
    if phase == .done { return nil }
    return open == unmet[task.index] ? nil : "counts \(unmet[task.index]) unmet needs of \(open)"
  }
}
