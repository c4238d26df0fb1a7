/// Machines whose time is limited: near its end nothing new starts there, and what runs is stopped by its own rules, early
/// enough for it to end, and to be written down, before somebody ends it all.
extension Scheduler {
  /// The time of a machine, or of the coordinator's own, is over then; nil: it is not limited.
  mutating func setEnd(
    _ end: Instant?, of site: SiteID, at now: Instant, into actions: inout [EngineStep]
  ) {
    guard site == .local || workforce.isThere(site) else { return }
    machines.setEnd(end, of: site)
    machines.look(by: now)
    returnSetAside()
    heedEnds(at: now, into: &actions)
  }

  /// A task is given to a worker.
  mutating func noteEnd(of task: TaskID, on worker: WorkerID) {
    let grace = Int64(plan.policy(task).stopGraceMilliseconds)
    for site in [workforce.workers[worker.index].site, .local] {
      if let moment = machines.lastMoment(at: site, graceMilliseconds: grace) {
        machines.look(by: moment)
      }
    }
  }

  /// Stops what has to end now.
  mutating func heedEnds(at now: Instant, into actions: inout [EngineStep]) {
    guard machines.takeLook(at: now) else { return }
    for site in machines.working {
      let grace = max(longestGrace(of: workforce.sites[site.index].workers), machines.leastGrace)
      guard let moment = machines.lastMoment(at: site, graceMilliseconds: grace) else { continue }
      if moment <= now { end(site, at: now, into: &actions) } else { machines.look(by: moment) }
    }
    let grace = longestGrace(of: workforce.living)
    guard phase.stopCause == nil,
      let moment = machines.lastMoment(at: .local, graceMilliseconds: grace)
    else { return }
    if moment > now { return machines.look(by: moment) }
    stop(
      .signal(Self.terminate), what: "the time of the machine that opflow runs on is nearly over",
      at: now, into: &actions)
  }

  private func longestGrace(of workers: [WorkerID]) -> Int64 {
    var longest: Int64 = 0
    for worker in workers {
      let task = workforce.workers[worker.index].current
      if !task.isNone { longest = max(longest, Int64(plan.policy(task).stopGraceMilliseconds)) }
    }
    return longest
  }

  private mutating func end(
    _ site: SiteID, at now: Instant, into actions: inout [EngineStep]
  ) {
    machines.noteOver(site)
    beginLeaving(site, complaint: "its time is nearly over", at: now, into: &actions)
    for worker in workforce.sites[site.index].workers {
      let record = workforce.workers[worker.index]
      guard record.phase == .busy, !record.isDiscarded, !record.isStopping, !record.current.isNone
      else { continue }
      stopCurrent(of: worker, .timeOver, at: now, into: &actions)
    }
  }

  /// Whether the time of a machine is over, and nothing runs there any more.
  func isOver(_ site: SiteID) -> Bool {
    machines.sites.indices.contains(site.index - 1) && machines[site].isOver
      && workforce.sites[site.index].workers.allSatisfy {
        workforce.workers[$0.index].current.isNone
      }
  }

  /// What a task of other machines is given to end, at least.
  static func leastGrace(of plan: Plan) -> Int64 {
    var least: UInt32?
    for index in plan.tasks where least != 0 {
      let grace = plan.policy(TaskID(index)).stopGraceMilliseconds
      least = min(least ?? grace, grace)
    }
    return Int64(least ?? 0)
  }
}
