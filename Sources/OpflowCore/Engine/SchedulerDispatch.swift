extension Scheduler {
  /// Starts what may start: the best ready task first, as far as resources and workers go. The
  /// first one that does not fit keeps what it wants from all that come after it.
  mutating func dispatch(at now: Instant, into actions: inout StepQueue) {
    lacking = Lacking()
    guard !phase.isSuspended, !phase.isPaused else { return }
    startReady(at: now, into: &actions)
    if !loans.isEmpty { lend(at: now, into: &actions) }
  }

  private mutating func startReady(at now: Instant, into actions: inout StepQueue) {
    if !gates.ready.isEmpty { openGates(at: now, into: &actions) }
    if checks.hasPending { giveChecks(at: now, into: &actions) }
    if !services.waiting.isEmpty { startTaken(at: now, into: &actions) }
    guard ready.count > 0 || workforce.aheadCount > 0 else { return }
    resources.clearReservations()
    var firstBlocked: Int?
    var lacks = Lacks()
    var standing = TaskID.none
    pass: while let (lane, rank) = ready.best {
      let task = TaskID(ranking.task[Int(rank)])
      let place =
        resources.serviceLanes.contains(lane)
        ? jointPlace(task, lane, at: now)
        : resources.isLocal(lane) ? placeHere(task, lane) : placeAnywhere(task, lane, at: now)
      switch place {
      case .site(let site):
        _ = ready.pop(lane)
        if resources.serviceLanes.contains(lane) {
          takeTogether(task, at: site, now: now, into: &actions)
        } else {
          assign(task, lane, at: site, now: now, into: &actions)
        }
        if !isFull { continue pass }
        if firstBlocked == nil { firstBlocked = ready.best?.lane }
        break pass
      case .noTime:
        _ = ready.pop(lane)
        machines.setAside(task)
        continue pass
      case .noRoom(let home):
        if !loans.isEmpty || resources.away > 0 { noteLacking(lane, task, at: home, now) }
        // What stays for good waits for room without keeping it from others.
        if isService(task) {
          if standing.isNone { standing = task }
        } else {
          reserve(for: task, lane, at: home, now)
          if plan.hasServices { note(&lacks, task, lane, at: home, now) }
        }
      case .noWorker, .notYet: break
      }
      if firstBlocked == nil { firstBlocked = lane }
      ready.block()
      // Behind what stays for good something may come that it has to give way to.
      if !lacks.here.isNone || standing.isNone,
        !resources.mayFitMore || ready.blockedCount >= SchedulerOptions.maxBlocked
      {
        break
      }
    }
    if workforce.aheadCount > 0 { takeBackAhead(at: now, into: &actions) }
    if let firstBlocked, options.handsAhead {
      handAhead(from: firstBlocked, at: now, into: &actions)
    }
    ready.unblock()
    // What is kept for the end of the run goes before what stays until then.
    if lacks.here.isNone, !standing.isNone, isAtRestButServices { lacks.here = standing }
    if !lacks.here.isNone { makeRoom(for: lacks.here, at: .local, now: now, into: &actions) }
    if let (task, site) = lacks.elsewhere {
      makeRoom(for: task, at: site, now: now, into: &actions)
    }
  }

  /// Whether nothing that is ready fits, and nobody asks what it lacks: as after nearly every start. What has just
  /// started may be one to lend to.
  @inline(__always)
  private var isFull: Bool {
    !options.usesSites && !plan.hasServices && loans.isEmpty && resources.away == 0
      && !resources.mayFitMore
  }

  /// The first ready tasks that do not fit, of this machine and of others, and where they are to.
  private struct Lacks {
    var here = TaskID.none
    var elsewhere: (TaskID, SiteID)?
  }

  private func note(
    _ lacks: inout Lacks, _ task: TaskID, _ lane: Int, at home: SiteID, _ now: Instant
  ) {
    if resources.isLocal(lane) {
      if lacks.here.isNone { lacks.here = task }
    } else if lacks.elsewhere == nil {
      let site = home == .local ? roomiest(for: task, lane, at: now) : home
      lacks.elsewhere = site.map { (task, $0) }
    }
  }

  private mutating func reserve(for task: TaskID, _ lane: Int, at home: SiteID, _ now: Instant) {
    if resources.serviceLanes.contains(lane) {
      if let amounts = amountsTogether(task, at: home) { resources.reserve(amounts, at: home) }
    } else if let limits = resources.isLocal(lane) ? nil : limits(of: task, lane, at: now) {
      let allowed = resources.roomySites.filter { allows(limits, $0, at: now) }
      resources.reserve(lane, atOneOf: allowed)
    } else {
      resources.reserve(lane, atOneOf: resources.candidates(for: lane))
    }
  }

  /// Where a task is to start.
  enum Place {
    case site(SiteID)
    /// What it wants is not free anywhere; of one with services, on the machine where these are or are to be.
    case noRoom(SiteID)
    /// What it wants is free, and nobody to do it.
    case noWorker
    /// Something is to be over first with a service that it needs, or no machine is there for both.
    case notYet
    /// No machine in use has the time left that it takes.
    case noTime
  }

  /// A task for this machine. Changes nothing; what only reads is called with a copy of the scheduler.
  private mutating func placeHere(_ task: TaskID, _ lane: Int) -> Place {
    guard resources.fits(lane, at: .local) else { return .noRoom(.local) }
    let kind = workerKind(of: task)
    // A block that stands in a queue is offered.
    return kind == .block || workforce.canTake(kind, at: .local) ? .site(.local) : .noWorker
  }

  /// Where a task starts best: where what it needs ran, where that is free, else where least goes on.
  private mutating func placeAnywhere(_ task: TaskID, _ lane: Int, at now: Instant) -> Place {
    let kind = workerKind(of: task)
    let preferred = siteOfNeeds(of: task)
    let limits = limits(of: task, lane, at: now)
    var best: SiteID?
    var leastLoad = 0.0
    var hasRoom = false
    for site in resources.roomySites where resources.fits(lane, at: site) {
      if limits != nil, !allows(limits, site, at: now) { continue }
      hasRoom = true
      guard workforce.canTake(kind, at: site) else { continue }
      if site == preferred { return .site(site) }
      let load = resources.load(of: site)
      if best == nil || load < leastLoad { (best, leastLoad) = (site, load) }
    }
    if let best { return .site(best) }
    if hasRoom { return .noWorker }
    let lacksTime = limits?.need.map { self.lacksTime(for: $0, lane, at: now) } ?? false
    return lacksTime ? .noTime : .noRoom(.local)
  }

  /// Where the first of its needs that ran elsewhere did; nil for none.
  func siteOfNeeds(of task: TaskID) -> SiteID? {
    for edge in plan.needs(task).prefix(SchedulerOptions.maxNeedsLookedAt) {
      let site = ranAt[Int(plan.needTargets[edge])]
      if site != .local { return site }
    }
    return nil
  }

  /// Gives a task to a worker that is free, or reserves it for one that is being launched.
  private mutating func assign(
    _ task: TaskID, _ lane: Int, at site: SiteID, now: Instant, into actions: inout StepQueue
  ) {
    let worker = claim(for: task, at: site, now: now, into: &actions)
    let share = resources.take(lane, at: site)
    if workforce.assign(task, lane: lane, share, to: worker, at: now) {
      start(task, on: worker, into: &actions)
    }
  }

  @inline(__always)
  private mutating func claim(
    for task: TaskID, at site: SiteID, now: Instant, into actions: inout StepQueue
  ) -> WorkerID {
    let kind = workerKind(of: task)
    if kind == .block { return seat(for: task, at: now, into: &actions) }
    let (worker, isNew) = workforce.claim(kind, at: site, now: now)
    if isNew { actions.append(.launch(worker, kind, site)) }
    return worker
  }

  mutating func start(
    _ task: TaskID, on worker: WorkerID, isAhead: Bool = false,
    into actions: inout StepQueue
  ) {
    if !additions.isEmpty { askToWithdraw(additionsOf: task, into: &actions) }
    graph.set(task, isAhead ? .handed : .running)
    attempt[task.index] += 1
    noteStarting(of: task, into: &actions)
    if options.usesSites { ranAt[task.index] = workforce.workers[worker.index].site }
    if machines.isAnyLimited { noteEnd(of: task, on: worker) }
    let number = attempt[task.index]
    var transition = Transition(.start, task, attempt: number)
    transition.worker = worker
    transition.isAhead = isAhead
    if plan.hasChecks { noteStart(of: task, in: &transition) }
    actions.append(.tell(.transition(consume transition)))
    if isBlock(task) {
      // Its program finds by itself what it reads.
      if plan.flags(task).contains(.readsValues) { noteRead(by: task) }
      return actions.append(.order(worker, .run(task, attempt: number)))
    }
    if phase.step == .finally, !workforce.workers[worker.index].knowsRunState {
      workforce.noteRunState(knownBy: worker)
      actions.append(.order(worker, .conclude(runState)))
    }
    if plan.flags(task).contains(.readsValues) || values.arguments != nil {
      noteRead(by: task)
      tellValues(of: task, to: worker, into: &actions)
    }
    if resources.haveDevices { tellDevices(of: task, to: worker, into: &actions) }
    if plan.hasServices { tellPorts(of: task, to: worker, into: &actions) }
    if plan.hasJobservers, !isAhead { beginLoan(of: task, on: worker, into: &actions) }
    actions.append(
      .order(
        worker, isAhead ? .follow(task, attempt: number) : .run(task, attempt: number)))
  }
}
