internal import OpflowJournal
internal import OpflowPlan

extension Scheduler {
  /// If the node's resources are unknown, launches a worker that reports them.
  mutating func join(_ site: SiteID, _ offer: SiteOffer?, _ identity: SiteIdentity) {
    let joined = workforce.join(offer)
    precondition(joined == site, "machines are numbered in the order in which they join")
    machines.join(identity, offer, at: now)
    var entry = SiteEntry(site, .joined, host: identity.host)
    entry.incarnation = identity.incarnation
    entry.leaseMilliseconds = identity.leaseMilliseconds
    if let offer { entry.note(offer, at: now) }
    steps.append(.tell(.site(entry)))
    if machines.isShunned(site) {
      resources.join(SiteOffer(cpu: 0, memoryBytes: 0), devicesHere: identity.devicesHere)
      return shun(identity.machine)
    }
    resources.join(offer ?? SiteOffer(cpu: 0, memoryBytes: 0), devicesHere: identity.devicesHere)
    returnSetAside()
    findBeyondDevices()
    scout(site)
  }

  mutating func scout(_ site: SiteID) {
    guard workforce.wantsScout(site), machines[site].isInUse, !phase.isKilled else { return }
    let worker = workforce.launch(.command, at: site, now: now)
    steps.append(.launch(worker, .command, site))
  }

  mutating func learn(_ told: WorkerOffer, from worker: WorkerID) {
    guard workforce.isAlive(worker) else { return }
    let site = workforce.workers[worker.index].site
    guard workforce.sites[site.index].isUnknown else { return }
    let offer = SiteOffer(
      cpu: UInt64(max(told.cores, 1)),
      memoryBytes: told.memoryBytes.map { UInt64(max($0, 0)) } ?? .max)
    workforce.setOffer(offer, of: site)
    machines.setOffer(offer, of: site)
    if machines[site].isInUse { resources.setOffer(offer, of: site) }
    returnSetAside()
    findBeyondDevices()
  }

  mutating func lose(_ site: SiteID, complaint: String) {
    guard workforce.isThere(site), site != .local else { return }
    workforce.leave(site)
    machines.lose(site)
    tell(site, .lost, complaint)
    resources.leave(site)
    returnSetAside()
    findBeyondDevices()
    withdrawTaken(at: site)
    for worker in usersFirst(workforce.sites[site.index].workers) {
      lose(worker, complaint: complaint)
    }
    readmit()
  }

  mutating func beginLeaving(_ site: SiteID, complaint: String) {
    guard workforce.isThere(site), site != .local, machines.leave(site, complaint) else { return }
    tell(site, .leaving, complaint)
    close(site)
    readmit()
  }

  /// Its workers keep their tasks until it is lost.
  mutating func silence(_ site: SiteID, complaint: String) {
    guard workforce.isThere(site), site != .local, machines.silence(site) else { return }
    tell(site, .silent, complaint)
    close(site)
    readmit()
  }

  mutating func noteLoss(at site: SiteID) {
    guard site != .local, machines.noteLoss(at: site, now) else { return }
    shun(machines[site].identity.machine)
  }

  private mutating func shun(_ machine: Int32) {
    for site in machines.shun(machine) {
      tell(site, .shunned, Self.shunnedText)
      close(site)
    }
  }

  private static let shunnedText =
    "nothing more starts there: workers with tasks were lost on it twice within"
    + " \(Machines.suspicionMilliseconds / 1000) s"

  mutating func giveUp(_ site: SiteID, complaint: String) {
    let wasInUse = machines[site].isInUse
    machines.giveUp(site)
    if wasInUse {
      tell(site, .shunned, "nothing more starts there: its workers do not come up: \(complaint)")
      close(site)
    }
    readmit()
  }

  private mutating func readmit() {
    let sites = machines.readmit()
    if sites.isEmpty { return }
    for site in sites {
      tell(site, .readmitted, "no other machine is left")
      if let offer = machines[site].offer { resources.setOffer(offer, of: site) }
      scout(site)
    }
    returnSetAside()
  }

  private mutating func close(_ site: SiteID) {
    resources.leave(site)
    returnSetAside()
    withdrawTaken(at: site)
    for worker in workforce.sites[site.index].workers {
      let record = workforce.workers[worker.index]
      if record.phase == .launching, !record.current.isNone {
        giveBackAssigned(workforce.withdraw(worker))
      }
      takeBackAll(of: worker)
    }
  }

  private mutating func tell(_ site: SiteID, _ state: SiteState, _ what: String) {
    var entry = SiteEntry(site, state, host: machines[site].identity.host)
    entry.what = what
    steps.append(.tell(.site(entry)))
  }

  // MARK: - Nodes that a task must avoid

  struct Limits {
    /// Hosts that lost the task, if it can run on another one.
    var avoided: [Int32] = []
    var need: Machines.TimeNeed?
  }

  @inline(__always)
  func limits(of task: TaskID, _ lane: Int) -> Limits? {
    machines.mayRestrict ? limitsFound(of: task, lane) : nil
  }

  private func limitsFound(of task: TaskID, _ lane: Int) -> Limits? {
    var limits = Limits(need: machines.haveEnds ? timeNeed(of: task) : nil)
    if let lost = machines.losses[task] {
      let hasOther = machines.inUse.contains { site in
        !lost.contains(machines[site].identity.machine)
          && resources.isWithinCapacity(lane, at: site)
          && machines.hasTime(for: limits.need, at: site, now)
      }
      if hasOther { limits.avoided = lost }
    }
    return limits.avoided.isEmpty && limits.need == nil ? nil : limits
  }

  func allows(_ limits: Limits?, _ site: SiteID) -> Bool {
    guard let limits, site != .local else { return true }
    return !limits.avoided.contains(machines[site].identity.machine)
      && machines.hasTime(for: limits.need, at: site, now)
  }

  func mayRun(_ task: TaskID, at site: SiteID) -> Bool {
    site == .local || allows(limits(of: task, resources.lane(of: task)), site)
  }

  /// Returns the known duration, or the `timeout`.
  func timeNeed(of task: TaskID) -> Machines.TimeNeed {
    let policy = plan.policy(task)
    var need = Machines.TimeNeed(graceMilliseconds: wholeGrace(of: task))
    if durations.areKnown, !durations.isGuess(task) {
      need.duration = .took(microseconds: durations[task])
    } else if policy.timeoutMilliseconds > 0 {
      let timeout = policy.timeoutMilliseconds
      let (microseconds, overflow) = timeout.multipliedReportingOverflow(by: 1000)
      need.duration = .mayTake(
        microseconds: overflow ? TaskDurations.limitMicroseconds : Int64(clamping: microseconds))
    }
    return need
  }

  /// Whether all able nodes have too little time left: the task waits for another one.
  func lacksTime(for need: Machines.TimeNeed, _ lane: Int) -> Bool {
    let able = machines.inUse.filter {
      machines[$0].offer == nil || resources.isWithinCapacity(lane, at: $0)
    }
    return !able.isEmpty && able.allSatisfy { !machines.hasTime(for: need, at: $0, now) }
  }

  /// Queues set-aside tasks again: demands or nodes may have changed.
  mutating func returnSetAside() {
    if machines.setAside.isEmpty { return }
    for task in machines.takeSetAside() { offer(task) }
  }

  /// Why the session must stop: waiting tasks need a node, and none is coming.
  var exhaustion: String? {
    guard let why = machines.noneComing, phase.step == .main,
      phase.stopCause == nil, !phase.isSuspended, !phase.isPaused, orders.isEmpty, checks.isEmpty,
      services.taken.isEmpty, workforce.heldCount == runningServices, !workforce.isAnyOnItsWay
    else { return nil }
    if machines.isAnyInUse {
      if let task = lackingDevices {
        return
          "no machine is left that has the GPUs which task \(plan.nameString(task)) wants; \(why)"
      }
      guard let first = machines.setAside.min(by: { $0.rawValue < $1.rawValue }) else {
        return nil
      }
      return "no machine has the time left that task \(plan.nameString(first)) takes; \(why)"
    }
    let waits =
      !machines.setAside.isEmpty
      || ready.ranks.contains {
        !resources.isLocal(resources.lane(of: TaskID(ranking.task[Int($0)])))
      }
    return waits ? "no machine is left for tasks that wait; \(why)" : nil
  }
}

extension SiteEntry {
  fileprivate mutating func note(_ offer: SiteOffer, at now: Instant) {
    cores = offer.cpu
    // 0 means unknown.
    memoryBytes = offer.memoryBytes == .max ? 0 : offer.memoryBytes
    gpus = offer.gpus
    leftMilliseconds = offer.endsAt.map {
      max(0, ($0.nanoseconds - now.nanoseconds) / 1_000_000)
    }
  }
}

/// Nodes with limited time. Near the end nothing starts there, and tasks are stopped in time.
extension Scheduler {
  mutating func setEnd(_ end: Instant?, of site: SiteID) {
    guard site == .local || workforce.isThere(site) else { return }
    machines.setEnd(end, of: site)
    machines.look(by: now)
    returnSetAside()
    heedEnds()
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

  mutating func heedEnds() {
    guard machines.takeLook(at: now) else { return }
    for site in machines.working {
      let grace = max(longestGrace(of: workforce.sites[site.index].workers), machines.leastGrace)
      guard let moment = machines.lastMoment(at: site, graceMilliseconds: grace) else { continue }
      if moment <= now { end(site) } else { machines.look(by: moment) }
    }
    guard machines.ownEnd != nil, phase.stopCause == nil,
      let moment = machines.lastMoment(
        at: .local, graceMilliseconds: longestGrace(of: workforce.living))
    else { return }
    if moment > now { return machines.look(by: moment) }
    stop(
      .signal(Self.terminate), what: "the time of the machine that opflow runs on is nearly over")
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

  private mutating func end(_ site: SiteID) {
    machines.noteOver(site)
    beginLeaving(site, complaint: "its time is nearly over")
    for worker in workforce.sites[site.index].workers {
      let record = workforce.workers[worker.index]
      guard record.phase == .busy, !record.isDiscarded, !record.isStopping, !record.current.isNone,
        // A service stops after the tasks that need it.
        !isService(record.current)
      else { continue }
      stopCurrent(of: worker, .timeOver)
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
