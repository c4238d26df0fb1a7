internal import OpflowPlan

extension Scheduler {
  func checkInvariants() -> String? {
    var shares: [Share] = []
    for record in workforce.workers.all { if let share = record.share { shares.append(share) } }
    shares += services.taken.all.map(\.share)
    if let problem = phase.checkInvariants() ?? ready.checkInvariants()
      ?? workforce.checkInvariants() ?? resources.checkInvariants(holding: shares)
      ?? checkNodes() ?? blocks.checkInvariants(workforce)
    {
      return problem
    }
    var holders: [TaskID: WorkerID] = [:]
    for worker in workforce.living {
      if let problem = check(worker, &holders) { return problem }
    }
    if holders.count != workforce.heldCount {
      return "\(workforce.heldCount) tasks held, \(holders.count) found"
    }
    let queued = Set(ready.ranks.map { TaskID(ranking.task[Int($0)]) }).union(approvals.ready)
      .union(checks.waiting).union(machines.setAside).union(blocks.waiting)
    if queued.count != ready.count + approvals.ready.count + checks.waiting.count
      + machines.setAside.count + blocks.waiting.count
    {
      return "a task is queued twice"
    }
    let delayed = Set(timers.elements.map(\.task))
    if let problem = checkServices() ?? checkLoans() { return problem }
    for index in plan.tasks {
      let task = TaskID(index)
      if let problem = check(task, holder: holders[task], queued: queued, delayed: delayed) {
        return "task \(plan.nameString(task)): \(problem)"
      }
    }
    return nil
  }

  private func check(_ worker: WorkerID, _ holders: inout [TaskID: WorkerID]) -> String? {
    let record = workforce.workers[worker.index]
    for task in [record.current] + record.ahead.map(\.task) where !task.isNone {
      if holders.updateValue(worker, forKey: task) != nil {
        return "task \(task.rawValue) is held twice"
      }
      if resources.demandClass(of: task) != Int(record.demandClass) {
        return "a worker has a task that needs more than the one before it frees"
      }
      if resources.isLocal(Int(record.demandClass)) != (record.node == .local) {
        return "a task is on the wrong node"
      }
    }
    if record.state == .launching, !record.current.isNone, graph.state(record.current) != .ready {
      return "\(plan.nameString(record.current)), assigned to a launching worker, is"
        + " \(graph.state(record.current))"
    }
    for prefetched in record.ahead where graph.state(prefetched.task) != .prefetched {
      return "a prefetched task is \(graph.state(prefetched.task))"
    }
    return nil
  }

  private func check(
    _ task: TaskID, holder: WorkerID?, queued: Set<TaskID>, delayed: Set<TaskID>
  ) -> String? {
    let isHeldBack = graph.has(.held, task)
    if isApproval(task) {
      if holder != nil { return "is an approval, but a worker has it" }
      if (approvals.open[task] != nil) != (graph.state(task) == .running) {
        return "is an approval that is \(graph.state(task))"
      }
    }
    if isExternal(task), queued.contains(task),
      blocks.isOffered(task) == blocks.waiting.contains(task)
    {
      return "is an external task in the wrong queue"
    }
    switch graph.state(task) {
    case .prefetched, .running, .suspended:
      if holder == nil, !isApproval(task) { return "runs nowhere" }
      if queued.contains(task) { return "runs and is queued" }
    case .checking:
      if !checks.isOpen(task) { return "is checked by no worker" }
      if queued.contains(task) || isHeldBack { return "is checked and queued" }
      if graph.unmetNeeds(of: task) != 0 { return "is checked before its dependencies finished" }
    case .ready:
      if checks.isOpen(task) { return "is ready and checked" }
      let assigned = holder.map { workforce.workers[$0.index].state == .launching } ?? false
      let isTaken = services.taken[task] != nil
      let places = [queued.contains(task), assigned, isHeldBack, isTaken].filter { $0 }.count
      // An idle service is in no queue.
      if places != 1, places != 0 || !isService(task) { return "is ready in \(places) places" }
      if graph.unmetNeeds(of: task) != 0 { return "is ready before its dependencies finished" }
      if graph.has(.onHold, task), queued.contains(task) { return "is on hold and queued" }
      if isHeldBack, mayBeQueued(task) { return "is held back though it may start" }
    case .waiting:
      if queued.contains(task) { return "waits and is queued" }
      if phase.step == .begin { return nil }
      let isDelayed = graph.has(.delayed, task)
      if graph.unmetNeeds(of: task) == 0, !isDelayed { return "waits for nothing" }
      if isDelayed, !delayed.contains(task), mayStart(task) { return "is delayed with no timer" }
      if isDelayed { return nil }
      return checkUnmet(task)
    case .succeeded, .upToDate, .failedAllowed, .failed, .skipped, .cancelled:
      if holder != nil || queued.contains(task) { return "ended and still at work" }
    }
    return nil
  }

  private func checkNodes() -> String? {
    if machines.nodes.count != workforce.nodes.count - 1 { return "a node is in one list only" }
    for (index, node) in machines.nodes.enumerated() {
      let id = NodeID(Int32(truncatingIfNeeded: index + 1))
      if node.isThere != workforce.isThere(id) { return "a node is gone in one list only" }
      let cpu = resources.pools[id.index].capacity[Int(ResourceEntry.cpu)]
      if cpu != (node.isInUse ? node.offer?.cpu ?? 0 : 0) {
        return "node \(id.rawValue) is \(node.state) and offers \(cpu) processors"
      }
    }
    for task in machines.setAside
    where graph.state(task) != .ready || resources.isLocal(resources.demandClass(of: task)) {
      return "\(plan.nameString(task)) waits for time and is \(graph.state(task))"
    }
    return machines.checkInvariants()
  }

  private func checkServices() -> String? {
    let waiting = services.taken.all.map(\.task)
    for task in waiting where graph.state(task) != .ready {
      return "\(plan.nameString(task)) is taken and \(graph.state(task))"
    }
    if let problem = checkUse() ?? checkReview() { return problem }
    let beyondIdle = Set(services.up.keys).union(services.stopping)
    for service in beyondIdle where !graph.state(service).isRunning {
      return "\(plan.nameString(service)) is up or ending, but \(graph.state(service))"
    }
    for task in waiting {
      for service in plan.services(neededBy: task)
      where !graph.state(service).isTerminal && !graph.state(service).isRunning
        && !waiting.contains(service)
      {
        return "\(plan.nameString(task)) waits for a service that does not start"
      }
    }
    return nil
  }

  private func checkUse() -> String? {
    let working = workforce.living.map { workforce.workers[$0.index].current }.filter { !$0.isNone }
    let holders = Set(working + services.taken.all.map(\.task))
    var counts: [TaskID: Int] = [:]
    for holder in holders {
      for service in plan.services(neededBy: holder) { counts[service, default: 0] += 1 }
    }
    let idle = services.use.idle.union(services.use.idleStanding)
    for service in services.all {
      let users = counts[service] ?? 0
      if users != services.use.users(of: service) {
        return "\(plan.nameString(service)) has \(users) users and counts"
          + " \(services.use.users(of: service))"
      }
      let isIdle = users == 0 && holders.contains(service)
      if isIdle != idle.contains(service) {
        return "\(plan.nameString(service)) is idle, or counts as idle"
      }
    }
    if runningServices != services.all.count(where: { graph.state($0).isRunning }) {
      return "running services are miscounted"
    }
    return nil
  }

  private func checkUnmet(_ task: TaskID) -> String? {
    let isMain = phase.step == .main
    if !isMain, !plan.flags(task).contains(.finally) { return nil }
    var open: Int32 = plan.flags(task).contains(.finally) && isMain ? 1 : 0
    var cut: Int32 = 0
    for edge in plan.needs(task) {
      let need = TaskID(plan.needTargets[edge])
      let state = graph.state(need)
      if isService(need), graph.has(.offered, need) {
        if !state.isTerminal { continue }
      }
      if state == .cancelled, phase.stopCause != nil, !plan.flags(task).contains(.finally) {
        open += 1
        cut += 1
      } else if !state.isTerminal {
        let isOver = !isMain && !plan.flags(need).contains(.finally)
        if !isOver { open += 1 }
      } else if !state.meets(
        plan.needCondition(edge), skippedUpstream: graph.has(.skippedUpstream, need))
      {
        // The task may keep its result without the service.
        guard isService(need), graph.isLeftWithoutService(task) else {
          return "waits though a dependency failed"
        }
        open += 1
        cut += 1
      }
    }
    if phase.step == .done { return nil }
    let unmet = graph.unmetNeeds(of: task)
    return unmet <= open && unmet >= open - cut ? nil : "counts \(unmet) unmet needs of \(open)"
  }
}
