internal import OpflowPlan

/// Nodes with limited time. Near the end nothing starts there, and tasks are stopped in time.
extension Scheduler {
  mutating func setEnd(
    _ end: Instant?, of site: SiteID, at now: Instant, into actions: inout StepQueue
  ) {
    guard site == .local || workforce.isThere(site) else { return }
    machines.setEnd(end, of: site)
    machines.look(by: now)
    returnSetAside()
    heedEnds(at: now, into: &actions)
  }

  /// The task's own stop grace plus those of its services, which stop after it.
  func wholeGrace(of task: TaskID) -> Int64 {
    resources.serviceLanes.services(of: task).reduce(grace(of: task)) { $0 + grace(of: $1) }
  }

  private func grace(of task: TaskID) -> Int64 {
    Int64(plan.policy(task).stopGraceMilliseconds)
  }

  mutating func noteEnd(of task: TaskID, on worker: WorkerID) {
    let grace = wholeGrace(of: task)
    for site in [workforce.workers[worker.index].site, .local] {
      if let moment = machines.lastMoment(at: site, graceMilliseconds: grace) {
        machines.look(by: moment)
      }
    }
  }

  mutating func heedEnds(at now: Instant, into actions: inout StepQueue) {
    guard machines.takeLook(at: now) else { return }
    for site in machines.working {
      let grace = max(longestGrace(of: workforce.sites[site.index].workers), machines.leastGrace)
      guard let moment = machines.lastMoment(at: site, graceMilliseconds: grace) else { continue }
      if moment <= now { end(site, at: now, into: &actions) } else { machines.look(by: moment) }
    }
    guard machines.ownEnd != nil, phase.stopCause == nil,
      let moment = machines.lastMoment(
        at: .local, graceMilliseconds: longestGrace(of: workforce.living))
    else { return }
    if moment > now { return machines.look(by: moment) }
    stop(
      .signal(Self.terminate), what: "the time of the machine that opflow runs on is nearly over",
      at: now, into: &actions)
  }

  /// Until all have ended; services stop after their users.
  private func longestGrace(of workers: [WorkerID]) -> Int64 {
    var longest: Int64 = 0
    var behind: [TaskID: Int64] = [:]
    func note(_ task: TaskID) {
      let end = behind[task, default: 0] + grace(of: task)
      longest = max(longest, end)
      for service in plan.services(neededBy: task) {
        behind[service] = max(behind[service] ?? 0, end)
      }
    }
    let tasks = workers.map { workforce.workers[$0.index].current }.filter { !$0.isNone }
    guard plan.hasServices else {
      for task in tasks { longest = max(longest, grace(of: task)) }
      return longest
    }
    let running = Set(tasks)
    for task in running where !isService(task) { note(task) }
    for service in services.all.reversed() where running.contains(service) { note(service) }
    return longest
  }

  private mutating func end(
    _ site: SiteID, at now: Instant, into actions: inout StepQueue
  ) {
    machines.noteOver(site)
    beginLeaving(site, complaint: "its time is nearly over", at: now, into: &actions)
    for worker in workforce.sites[site.index].workers {
      let record = workforce.workers[worker.index]
      guard record.phase == .busy, !record.isDiscarded, !record.isStopping, !record.current.isNone,
        // A service stops after the tasks that need it.
        !isService(record.current)
      else { continue }
      stopCurrent(of: worker, .timeOver, at: now, into: &actions)
    }
  }

  func isOver(_ site: SiteID) -> Bool {
    machines.sites.indices.contains(site.index - 1) && machines[site].isOver
      && workforce.sites[site.index].workers.allSatisfy {
        workforce.workers[$0.index].current.isNone
      }
  }

  static func leastGrace(of plan: Plan, from first: Int = 0) -> Int64 {
    var least: UInt32?
    for index in first..<plan.taskCount where least != 0 {
      let grace = plan.policy(TaskID(index)).stopGraceMilliseconds
      least = min(least ?? grace, grace)
    }
    return Int64(least ?? 0)
  }
}
