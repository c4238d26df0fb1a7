internal import OpflowJournal
internal import OpflowPlan
internal import OpflowWire

extension Scheduler {
  /// Starts ready tasks in rank order; reserves resources for the first that does not fit.
  mutating func dispatch() {
    lacking = Lacking()
    guard !phase.isSuspended, !phase.isPaused else { return }
    startReady()
    if !loans.isEmpty { lend() }
  }

  private mutating func startReady() {
    if !gates.ready.isEmpty { openGates() }
    if checks.hasPending { giveChecks() }
    if !services.taken.isEmpty { startTaken() }
    guard ready.count > 0 || workforce.aheadCount > 0 else { return }
    resources.clearReservations()
    var firstBlocked: Int?
    var lacks = Lacks()
    var standing = TaskID.none
    pass: while let (lane, rank) = ready.best {
      lookCount += 1
      var want: ReadyQueues.Want?
      let task = TaskID(ranking.task[Int(rank)])
      let place =
        resources.serviceLanes.contains(lane)
        ? jointPlace(task, lane)
        : resources.isLocal(lane) ? placeHere(task, lane) : placeAnywhere(task, lane)
      switch place {
      case .site(let site):
        _ = ready.pop(lane)
        if resources.serviceLanes.contains(lane) {
          takeTogether(task, at: site)
        } else {
          assign(task, lane, at: site)
        }
        if !isFull { continue pass }
        if firstBlocked == nil { firstBlocked = ready.best?.lane }
        break pass
      case .noTime:
        _ = ready.pop(lane)
        machines.setAside(task)
        continue pass
      case .noRoom(let home):
        if !loans.isEmpty || resources.away > 0 { noteLacking(lane, task, at: home) }
        // A service that stays up waits for room without reserving it.
        if isService(task) {
          if standing.isNone { standing = task }
        } else {
          reserve(for: task, lane, at: home)
          if plan.hasServices { note(&lacks, task, lane, at: home) }
        }
        if resources.serviceLanes.contains(lane) { want = self.want(of: task, lane) }
      case .noWorker, .notYet: break
      }
      if firstBlocked == nil { firstBlocked = lane }
      if let want { ready.block(wanting: want) } else { ready.block() }
      // A task behind a service that stays up may need room made for it.
      if !lacks.here.isNone || standing.isNone,
        !resources.mayFitMore || ready.blockedCount >= SchedulerOptions.maxBlocked
      {
        break
      }
    }
    if workforce.aheadCount > 0 { takeBackAhead() }
    if let firstBlocked, options.handsAhead {
      handAhead(from: firstBlocked)
    }
    ready.unblock()
    if lacks.here.isNone, !standing.isNone, isAtRestButServices { lacks.here = standing }
    if !lacks.here.isNone { makeRoom(for: lacks.here, at: .local) }
    if let (task, site) = lacks.elsewhere {
      makeRoom(for: task, at: site)
    }
  }

  /// Whether no ready task fits and no shortfall must be computed, as after nearly every start.
  @inline(__always)
  private var isFull: Bool {
    !options.usesSites && !plan.hasServices && loans.isEmpty && resources.away == 0
      && !resources.mayFitMore
  }

  /// The first ready tasks that do not fit, and the remote one's node.
  private struct Lacks {
    var here = TaskID.none
    var elsewhere: (TaskID, SiteID)?
  }

  /// Returns what a local task wants together with its services. Mutating, as `placeHere`.
  private mutating func want(of task: TaskID, _ lane: Int) -> ReadyQueues.Want? {
    guard resources.isLocal(lane), let amounts = amountsTogether(task, at: .local) else {
      return nil
    }
    return ReadyQueues.Want(
      amounts: plan.resources.indices.map { amounts.sum(of: $0) }, isService: isService(task))
  }

  private func note(_ lacks: inout Lacks, _ task: TaskID, _ lane: Int, at home: SiteID) {
    if resources.isLocal(lane) {
      if lacks.here.isNone { lacks.here = task }
    } else if lacks.elsewhere == nil {
      let site = home == .local ? roomiest(for: task, lane) : home
      lacks.elsewhere = site.map { (task, $0) }
    }
  }

  private mutating func reserve(for task: TaskID, _ lane: Int, at home: SiteID) {
    if resources.serviceLanes.contains(lane) {
      if let amounts = amountsTogether(task, at: home) { resources.reserve(amounts, at: home) }
    } else if let limits = resources.isLocal(lane) ? nil : limits(of: task, lane) {
      let allowed = resources.roomySites.filter { allows(limits, $0) }
      resources.reserve(lane, atOneOf: allowed)
    } else {
      resources.reserve(lane, atOneOf: resources.candidates(for: lane))
    }
  }

  enum Place {
    case site(SiteID)
    /// Resources are lacking; with the node of the task's services, if any.
    case noRoom(SiteID)
    /// Resources are free, but no worker.
    case noWorker
    /// A service must end first, or no node has room for both.
    case notYet
    /// No node in use has enough time left.
    case noTime
  }

  /// Mutating although it changes nothing: a call that only reads copies the scheduler.
  private mutating func placeHere(_ task: TaskID, _ lane: Int) -> Place {
    guard resources.fits(lane, at: .local) else { return .noRoom(.local) }
    let kind = workerKind(of: task)
    // Queued external tasks are offered.
    return kind == .block || workforce.canTake(kind, at: .local) ? .site(.local) : .noWorker
  }

  /// Prefers the node of its dependencies, then the least loaded one.
  private mutating func placeAnywhere(_ task: TaskID, _ lane: Int) -> Place {
    let kind = workerKind(of: task)
    let preferred = siteOfNeeds(of: task)
    let limits = limits(of: task, lane)
    var best: SiteID?
    var leastLoad = 0.0
    var hasRoom = false
    for site in resources.roomySites where resources.fits(lane, at: site) {
      if limits != nil, !allows(limits, site) { continue }
      hasRoom = true
      guard workforce.canTake(kind, at: site) else { continue }
      if site == preferred { return .site(site) }
      let load = resources.load(of: site)
      if best == nil || load < leastLoad { (best, leastLoad) = (site, load) }
    }
    if let best { return .site(best) }
    if hasRoom { return .noWorker }
    let lacksTime = limits?.need.map { self.lacksTime(for: $0, lane) } ?? false
    return lacksTime ? .noTime : .noRoom(.local)
  }

  /// Returns the node of the first dependency that ran remotely.
  func siteOfNeeds(of task: TaskID) -> SiteID? {
    for edge in plan.needs(task).prefix(SchedulerOptions.maxNeedsLookedAt) {
      let site = ranAt[Int(plan.needTargets[edge])]
      if site != .local { return site }
    }
    return nil
  }

  private mutating func assign(_ task: TaskID, _ lane: Int, at site: SiteID) {
    let worker = claim(for: task, at: site)
    let share = resources.take(lane, at: site)
    if workforce.assign(task, lane: lane, share, to: worker, at: now) {
      start(task, on: worker)
    }
  }

  @inline(__always)
  private mutating func claim(for task: TaskID, at site: SiteID) -> WorkerID {
    let kind = workerKind(of: task)
    if kind == .block { return seat(for: task) }
    let (worker, isNew) = workforce.claim(kind, at: site, now: now)
    if isNew { steps.append(.launch(worker, kind, site)) }
    return worker
  }

  mutating func start(_ task: TaskID, on worker: WorkerID, isAhead: Bool = false) {
    if !additions.isEmpty { askToWithdraw(additionsOf: task) }
    graph.set(task, isAhead ? .handed : .running)
    attempt[task.index] += 1
    noteStarting(of: task)
    if options.usesSites { ranAt[task.index] = workforce.workers[worker.index].site }
    if machines.isAnyLimited { noteEnd(of: task, on: worker) }
    let number = attempt[task.index]
    var transition = Transition(.start, task, attempt: number)
    transition.worker = worker
    transition.isAhead = isAhead
    if plan.hasChecks { noteStart(of: task, in: &transition) }
    tell(consume transition)
    if isBlock(task) {
      // The client finds its values itself.
      if plan.flags(task).contains(.readsValues) { noteRead(by: task) }
      return send(.run(task, attempt: number), to: worker)
    }
    if phase.step == .finally, !workforce.workers[worker.index].knowsRunState {
      workforce.noteRunState(knownBy: worker)
      send(.conclude(runState), to: worker)
    }
    if plan.flags(task).contains(.readsValues) || values.arguments != nil {
      noteRead(by: task)
      tellValues(of: task, to: worker)
    }
    if resources.haveDevices { tellDevices(of: task, to: worker) }
    if plan.hasServices { tellPorts(of: task, to: worker) }
    if plan.hasJobservers, !isAhead { beginLoan(of: task, on: worker) }
    send(isAhead ? .follow(task, attempt: number) : .run(task, attempt: number), to: worker)
  }
}

extension Scheduler {
  /// A prefetched task takes over the GPUs of the task before it.
  mutating func tellDevices(of task: TaskID, to worker: WorkerID) {
    guard let devices = workforce.workers[worker.index].share?.devices, !devices.isEmpty else {
      return
    }
    send(.devices(task, devices), to: worker)
  }

  mutating func findBeyondDevices() {
    guard resources.haveDevices else { return }
    beyondDevices = resources.lanes(beyond: options.gpus, isLocal: true)
    if machines.areKnown || machines.noneComing != nil, let most = machines.mostDevices {
      beyondDevices += resources.lanes(beyond: most, isLocal: false)
    }
  }

  /// Fails ready tasks that want more GPUs than the local node has or, once all nodes are known,
  /// than any remote one ever had.
  mutating func failBeyondDevices() -> Bool {
    if beyondDevices.isEmpty { return false }
    let lanes = Set(beyondDevices)
    let aside = machines.setAside.filter { lanes.contains(resources.lane(of: $0)) }
    for task in aside where mayStart(task) { machines.takeBack(task) }
    let queued = lanes.contains { ready.head($0) != nil }
    let ranks =
      queued ? ready.ranks.filter { lanes.contains(laneOf($0)) && mayStart(taskOf($0)) } : []
    ready.remove(Set(ranks), of: lanes)
    let tasks = ranks.map { taskOf($0) } + aside.filter { mayStart($0) }
    // An earlier failure may have ended a task that needs the same service.
    for task in tasks.sorted(by: { $0.rawValue < $1.rawValue })
    where graph.state(task) == .ready {
      var transition = Transition(.failure, task, reason: .refused)
      let lane = resources.lane(of: task)
      transition.what =
        "it wants \(resources.gpus(of: lane)) of gpu, and "
        + (resources.isLocal(lane)
          ? "this machine has \(options.gpus)"
          : "no machine of the run has more than \(machines.mostDevices ?? 0)")
      graph.set(task, .waiting)
      settle(task, as: .failed, transition)
    }
    return !tasks.isEmpty
  }

  var lackingDevices: TaskID? {
    guard resources.haveDevices else { return nil }
    let most = machines.inUse.compactMap { machines[$0].offer?.gpus }.max() ?? 0
    let lanes = Set(resources.lanes(beyond: most, isLocal: false))
    return ready.ranks.filter { lanes.contains(laneOf($0)) }.min().map { taskOf($0) }
  }

  private func taskOf(_ rank: Int32) -> TaskID { TaskID(ranking.task[Int(rank)]) }

  private func laneOf(_ rank: Int32) -> Int { resources.lane(of: taskOf(rank)) }
}
