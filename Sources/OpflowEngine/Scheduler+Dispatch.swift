internal import OpflowJournal
internal import OpflowPlan
internal import OpflowWire

extension Scheduler {
  /// Reserves resources for the first ready task that does not fit.
  mutating func dispatch() {
    lacking = Lacking()
    guard !phase.isSuspended, !phase.isPaused else { return }
    startReady()
    if !loans.isEmpty { lend() }
  }

  private mutating func startReady() {
    if !approvals.ready.isEmpty { openApprovals() }
    if checks.hasPending { giveChecks() }
    if !services.taken.isEmpty { startTaken() }
    guard ready.count > 0 || workforce.prefetchedCount > 0 else { return }
    resources.clearReservations()
    var firstBlocked: Int?
    var lacks = Lacks()
    var standing = TaskID.none
    pass: while let (demandClass, rank) = ready.best {
      lookCount += 1
      var want: ReadyQueues.Want?
      let task = TaskID(ranking.task[Int(rank)])
      let place =
        resources.serviceClasses.contains(demandClass)
        ? jointPlace(task, demandClass)
        : resources.isLocal(demandClass)
          ? placeHere(task, demandClass) : placeAnywhere(task, demandClass)
      switch place {
      case .node(let node):
        _ = ready.pop(demandClass)
        if resources.serviceClasses.contains(demandClass) {
          takeTogether(task, at: node)
        } else {
          assign(task, demandClass, at: node)
        }
        if !isFull { continue pass }
        if firstBlocked == nil { firstBlocked = ready.best?.demandClass }
        break pass
      case .noTime:
        _ = ready.pop(demandClass)
        machines.setAside(task)
        continue pass
      case .noRoom(let home):
        if !loans.isEmpty || resources.away > 0 { noteLacking(demandClass, task, at: home) }
        // A service that stays up waits for room without reserving it.
        if isService(task) {
          if standing.isNone { standing = task }
        } else {
          reserve(for: task, demandClass, at: home)
          if plan.hasServices { note(&lacks, task, demandClass, at: home) }
        }
        if resources.serviceClasses.contains(demandClass) {
          want = self.want(of: task, demandClass)
        }
      case .noWorker, .notYet: break
      }
      if firstBlocked == nil { firstBlocked = demandClass }
      if let want { ready.block(wanting: want) } else { ready.block() }
      // A task behind a service that stays up may need room made for it.
      if !lacks.here.isNone || standing.isNone,
        !resources.mayFitMore || ready.blockedCount >= SchedulerOptions.maxBlocked
      {
        break
      }
    }
    if workforce.prefetchedCount > 0 { takeBackPrefetched() }
    if let firstBlocked, options.prefetches { prefetch(from: firstBlocked) }
    ready.unblock()
    if lacks.here.isNone, !standing.isNone, isAtRestButServices { lacks.here = standing }
    if !lacks.here.isNone { makeRoom(for: lacks.here, at: .local) }
    if let (task, node) = lacks.elsewhere { makeRoom(for: task, at: node) }
  }

  /// The case after nearly every start: nothing fits, and no shortfall must be computed.
  @inline(__always)
  private var isFull: Bool {
    !options.usesNodes && !plan.hasServices && loans.isEmpty && resources.away == 0
      && !resources.mayFitMore
  }

  private struct Lacks {
    var here = TaskID.none
    var elsewhere: (TaskID, NodeID)?
  }

  /// Returns the joint want of a local task and its services. Mutating, as `placeHere`.
  private mutating func want(of task: TaskID, _ demandClass: Int) -> ReadyQueues.Want? {
    guard resources.isLocal(demandClass), let amounts = amountsTogether(task, at: .local) else {
      return nil
    }
    return ReadyQueues.Want(
      amounts: plan.resources.indices.map { amounts.sum(of: $0) }, isService: isService(task))
  }

  private func note(_ lacks: inout Lacks, _ task: TaskID, _ demandClass: Int, at home: NodeID) {
    if resources.isLocal(demandClass) {
      if lacks.here.isNone { lacks.here = task }
    } else if lacks.elsewhere == nil {
      let node = home == .local ? roomiest(for: task, demandClass) : home
      lacks.elsewhere = node.map { (task, $0) }
    }
  }

  private mutating func reserve(for task: TaskID, _ demandClass: Int, at home: NodeID) {
    if resources.serviceClasses.contains(demandClass) {
      if let amounts = amountsTogether(task, at: home) { resources.reserve(amounts, at: home) }
    } else if let limits = resources.isLocal(demandClass) ? nil : limits(of: task, demandClass) {
      let allowed = resources.roomyNodes.filter { allows(limits, $0) }
      resources.reserve(demandClass, atOneOf: allowed)
    } else {
      resources.reserve(demandClass, atOneOf: resources.candidates(for: demandClass))
    }
  }

  enum Place {
    case node(NodeID)
    /// Resources are lacking; with the node of the task's services, if any.
    case noRoom(NodeID)
    case noWorker
    /// A service must end first, or no node has room for both.
    case notYet
    case noTime
  }

  /// Mutating although it changes nothing: a call that only reads copies the scheduler.
  private mutating func placeHere(_ task: TaskID, _ demandClass: Int) -> Place {
    guard resources.fits(demandClass, at: .local) else { return .noRoom(.local) }
    let kind = workerKind(of: task)
    // Queued external tasks are offered.
    return kind == .block || workforce.canTake(kind, at: .local) ? .node(.local) : .noWorker
  }

  /// Prefers the node of the task's dependencies.
  private mutating func placeAnywhere(_ task: TaskID, _ demandClass: Int) -> Place {
    let kind = workerKind(of: task)
    let preferred = nodeOfNeeds(of: task)
    let limits = limits(of: task, demandClass)
    var best: NodeID?
    var leastLoad = 0.0
    var hasRoom = false
    for node in resources.roomyNodes where resources.fits(demandClass, at: node) {
      if limits != nil, !allows(limits, node) { continue }
      hasRoom = true
      guard workforce.canTake(kind, at: node) else { continue }
      if node == preferred { return .node(node) }
      let load = resources.load(of: node)
      if best == nil || load < leastLoad { (best, leastLoad) = (node, load) }
    }
    if let best { return .node(best) }
    if hasRoom { return .noWorker }
    let lacksTime = limits?.need.map { self.lacksTime(for: $0, demandClass) } ?? false
    return lacksTime ? .noTime : .noRoom(.local)
  }

  func nodeOfNeeds(of task: TaskID) -> NodeID? {
    for edge in plan.needs(task).prefix(SchedulerOptions.maxNeedsLookedAt) {
      let node = ranAt[Int(plan.needTargets[edge])]
      if node != .local { return node }
    }
    return nil
  }

  private mutating func assign(_ task: TaskID, _ demandClass: Int, at node: NodeID) {
    let worker = claim(for: task, at: node)
    let share = resources.take(demandClass, at: node)
    if workforce.assign(task, demandClass: demandClass, share, to: worker, at: now) {
      start(task, on: worker)
    }
  }

  @inline(__always)
  private mutating func claim(for task: TaskID, at node: NodeID) -> WorkerID {
    let kind = workerKind(of: task)
    if kind == .block { return slot(for: task) }
    let (worker, isNew) = workforce.claim(kind, at: node, now: now)
    if isNew { steps.append(.launch(worker, kind, node)) }
    return worker
  }

  mutating func start(_ task: TaskID, on worker: WorkerID, isPrefetched: Bool = false) {
    if !additions.isEmpty { askToRetract(additionsOf: task) }
    graph.set(task, isPrefetched ? .prefetched : .running)
    attempt[task.index] += 1
    noteStarting(of: task)
    if options.usesNodes { ranAt[task.index] = workforce.workers[worker.index].node }
    if machines.isAnyLimited { noteEnd(of: task, on: worker) }
    let number = attempt[task.index]
    var transition = Transition(.start, task, attempt: number)
    transition.worker = worker
    transition.isPrefetched = isPrefetched
    if plan.hasChecks { noteStart(of: task, in: &transition) }
    tell(consume transition)
    if isExternal(task) {
      // The client finds its values itself.
      if plan.flags(task).contains(.readsValues) { noteRead(by: task) }
      return send(.run(task, attempt: number), to: worker)
    }
    if phase.step == .finally, !workforce.workers[worker.index].knowsRunState {
      workforce.noteRunState(knownBy: worker)
      send(.setRunState(runState), to: worker)
    }
    if plan.flags(task).contains(.readsValues) || values.arguments != nil {
      noteRead(by: task)
      tellValues(of: task, to: worker)
    }
    if resources.haveDevices { tellDevices(of: task, to: worker) }
    if plan.hasServices { tellPorts(of: task, to: worker) }
    if plan.hasJobservers, !isPrefetched { beginLoan(of: task, on: worker) }
    send(isPrefetched ? .follow(task, attempt: number) : .run(task, attempt: number), to: worker)
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
    beyondDevices = resources.demandClasses(beyond: options.gpus, isLocal: true)
    if machines.areKnown || machines.noneComing != nil, let most = machines.mostDevices {
      beyondDevices += resources.demandClasses(beyond: most, isLocal: false)
    }
  }

  /// Fails ready tasks that want more GPUs than the local node has or, once all nodes are known,
  /// than any remote one ever had.
  mutating func failBeyondDevices() -> Bool {
    if beyondDevices.isEmpty { return false }
    let demandClasses = Set(beyondDevices)
    let aside = machines.setAside.filter { demandClasses.contains(resources.demandClass(of: $0)) }
    for task in aside where mayStart(task) { machines.takeBack(task) }
    let queued = demandClasses.contains { ready.head($0) != nil }
    let ranks =
      queued
      ? ready.ranks.filter { demandClasses.contains(classOf($0)) && mayStart(taskOf($0)) } : []
    ready.remove(Set(ranks), of: demandClasses)
    let tasks = ranks.map { taskOf($0) } + aside.filter { mayStart($0) }
    // An earlier failure may have ended a task that needs the same service.
    for task in tasks.sorted(by: { $0.rawValue < $1.rawValue })
    where graph.state(task) == .ready {
      var transition = Transition(.failure, task, reason: .refused)
      let demandClass = resources.demandClass(of: task)
      let count = resources.gpus(of: demandClass)
      transition.detail =
        "it needs \(count) \(count == 1 ? "GPU" : "GPUs"); "
        + (resources.isLocal(demandClass)
          ? "this machine has \(options.gpus)"
          : "no node of the run has more than \(machines.mostDevices ?? 0)")
      graph.set(task, .waiting)
      settle(task, as: .failed, transition)
    }
    return !tasks.isEmpty
  }

  var lackingDevices: TaskID? {
    guard resources.haveDevices else { return nil }
    let most = machines.inUse.compactMap { machines[$0].offer?.gpus }.max() ?? 0
    let demandClasses = Set(resources.demandClasses(beyond: most, isLocal: false))
    return ready.ranks.filter { demandClasses.contains(classOf($0)) }.min().map { taskOf($0) }
  }

  private func taskOf(_ rank: Int32) -> TaskID { TaskID(ranking.task[Int(rank)]) }

  private func classOf(_ rank: Int32) -> Int { resources.demandClass(of: taskOf(rank)) }
}
