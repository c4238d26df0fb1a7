/// Services: which of them is needed still, and how they end.
extension Scheduler {
  /// Ends services that nothing needs any more, and gives those an end that nothing came to need.
  mutating func attendServices(at now: Instant, into actions: inout StepQueue) {
    let isAtRest = isAtRestButServices && !isKeptOpen
    var active = activeServices
    var needed: Set<TaskID> = []
    var unused: [TaskID] = []
    // What needs a service comes before it.
    for service in services.all.reversed() {
      // What it needs is not seen to in a run that is on its way to its end.
      let isLate = services.keptOver.contains(service) && !phase.isOrdinary
      let isNeeded =
        active.contains(service)
        || !isLate && mayBeNeeded(service, isAtRest: isAtRest, neededServices: needed)
      if isNeeded { needed.insert(service) }
      switch graph.state(service) {
      case .running, .suspended:
        let isOver = !isNeeded || !active.contains(service) && isStranded(service, at: now)
        if isOver { end(service, at: now, into: &actions) }
      case .waiting, .ready:
        if !isNeeded, services.isWaiting(service) {
          withdrawTaken { $0 == service }
          // What it needs itself may be needed by nothing else.
          active = activeServices
        }
        // What is being withdrawn gets its end with that.
        if additions.isLetGo(service) { continue }
        if !isNeeded, !stands(service) || services.isLeaving, !hasOpenUser(service) {
          unused.append(service)
        }
      case .checking, .handed, .succeeded, .upToDate, .failedAllowed, .failed, .skipped,
        .cancelled:
        break
      }
    }
    services.kept = needed
    for service in unused {
      pull([service], into: &actions)
      forget([service])
      graph.mark(service, .unused)
      settle(service, as: .skipped, Transition(.skip(.unused), service), into: &actions)
    }
    if !services.deferred.isEmpty, isAtRestButServices, phase.isOrdinary {
      let deferred = services.deferred.sorted { $0.rawValue < $1.rawValue }
      services.deferred.removeAll()
      for service in deferred where graph.state(service) == .ready { offer(service) }
    }
    if !unused.isEmpty || ready.count > 0 { dispatch(at: now, into: &actions) }
    // With them those may have had their last user that they need themselves.
    if !unused.isEmpty { attendServices(at: now, into: &actions) }
  }

  /// Services that somebody needs who has a worker, or a share.
  var activeServices: Set<TaskID> {
    var active: Set<TaskID> = []
    for worker in workforce.living {
      let task = workforce.workers[worker.index].current
      if !task.isNone { active.formUnion(plan.services(neededBy: task)) }
    }
    for entry in services.waiting {
      active.formUnion(plan.services(neededBy: entry.task))
    }
    return active
  }

  /// Whether one of its users has no end.
  private mutating func hasOpenUser(_ service: TaskID) -> Bool {
    services.firstOpenUser(of: service, plan, hasEnded: { graph.state($0).isTerminal }) != nil
  }

  /// Whether a service is kept, or may come to be needed yet.
  private mutating func mayBeNeeded(
    _ service: TaskID, isAtRest: Bool, neededServices: Set<TaskID>
  ) -> Bool {
    if stands(service) && mayStand || services.passedOn.contains(service) { return true }
    guard
      let first = services.firstOpenUser(
        of: service, plan, hasEnded: { graph.state($0).isTerminal })
    else { return false }
    for edge in plan.dependents(service, from: first) {
      let user = plan.dependent(edge)
      if graph.state(user).isTerminal { continue }
      if isService(user) {
        if neededServices.contains(user) { return true }
      } else if mayCome(user, isAtRest: isAtRest) {
        return true
      }
    }
    return false
  }

  /// Whether a task that has no end may start yet.
  private func mayCome(_ task: TaskID, isAtRest: Bool) -> Bool {
    if plan.flags(task).contains(.finally) {
      return phase.leadsToFinally && services.passedOn.isEmpty
        || phase.step == .finally && !isAtRest && !phase.isKilled
    }
    return phase.step == .main && phase.stopCause == nil && !isAtRest
      && (!phase.isHalted || graph.has(.exempt, task))
  }

  /// Whether services stay that nothing needs.
  private var mayStand: Bool { phase.isOrdinary && !services.isLeaving }

  /// How many services run.
  var runningServices: Int { services.all.count { graph.state($0).isRunning } }

  /// Nothing goes on or can start but services.
  var isAtRestButServices: Bool {
    services.waiting.isEmpty && services.keptOver.isEmpty && gates.isEmpty && checks.isEmpty
      && timers.first == nil && machines.setAside.isEmpty
      && orders.isEmpty && !phase.isSuspended
      && (ready.count == 0
        || ready.ranks.allSatisfy { isService(TaskID(ranking.task[Int($0)])) })
      && workforce.heldCount == runningServices
  }

  /// Services run that stay until somebody asks for the end, and nothing else is left.
  var isServing: Bool {
    plan.hasServices && !services.isLeaving && mayStand && isAtRestButServices && !isKeptOpen
      && blocks.waiting.isEmpty
      && services.standing.contains { graph.state($0).isRunning }
  }

  /// Services that are to stay and have all that they need, but for room beside those that do.
  var servicesWithoutRoom: [TaskID] {
    services.standing.filter { graph.state($0) == .ready }.sorted { $0.rawValue < $1.rawValue }
  }

  /// Whether the run may go on to its next part, as far as services go: those that run are needed in it.
  var allowServicesNextStep: Bool {
    guard services.waiting.isEmpty else { return false }
    if workforce.heldCount == 0 { return true }
    guard phase.leadsToFinally, workforce.heldCount == runningServices else { return false }
    return workforce.living.allSatisfy { worker in
      let record = workforce.workers[worker.index]
      if record.current.isNone { return true }
      return services.kept.contains(record.current) && !record.isStopping && !record.isDiscarded
        && !(stands(record.current) && mayStand)
    }
  }

  /// The first to ask for the end of a run that only serves: it is an end like any other.
  mutating func leaveService(into actions: inout StepQueue) {
    services.isLeaving = true
    for rank in ready.removeAll() { offer(TaskID(ranking.task[Int(rank)])) }
  }

  /// Tells a service to end that nothing needs now.
  mutating func end(
    _ service: TaskID, at now: Instant, into actions: inout StepQueue
  ) {
    guard !services.stopping.contains(service),
      let worker = workforce.living.first(where: {
        workforce.workers[$0.index].current == service
      })
    else { return }
    let record = workforce.workers[worker.index]
    if record.isDiscarded || record.isStopping { return }
    services.noteStopping(service)
    stopCurrent(of: worker, .unneeded, at: now, into: &actions)
  }

  /// Ends services that are idle and hold what the first of the ready tasks lacks there.
  mutating func makeRoom(
    for task: TaskID, at site: SiteID, now: Instant, into actions: inout StepQueue
  ) {
    let lane = resources.lane(of: task)
    let together =
      resources.serviceLanes.contains(lane)
      ? amountsTogether(task, at: site) : [resources.wanted(lane)]
    guard let amounts = together else { return }
    var needed = Set(servicesWanted(by: task))
    for user in usersAtWork { needed.formUnion(servicesWanted(by: user)) }
    if isService(task) {
      for other in services.standing where !graph.state(other).isTerminal {
        needed.formUnion(servicesWanted(by: other))
      }
    }
    let isOnlyServices = workforce.heldCount == runningServices && !isService(task)
    // What stays for good and has not begun gives way as well, or it would take the same again; not what is taken for
    // a task as well, which begins before all others.
    let giveWay = services.waiting.map(\.task).filter { waiting in
      stands(waiting) && !needed.contains(waiting)
        && (site == .local
          || shares(of: [waiting] + servicesWanted(by: waiting)).contains {
            resources.helps($0, amounts, at: site)
          })
    }
    if isOnlyServices, !giveWay.isEmpty {
      services.deferred.formUnion(giveWay)
      // With them what is taken for others of them, and waits for them.
      let withdrawn = Set(giveWay).union(giveWay.flatMap { takenUsers(of: $0) })
      withdrawTaken { withdrawn.contains($0) }
    }
    // What it waits for is none that idles.
    for entry in services.waiting where stands(entry.task) {
      needed.formUnion(servicesWanted(by: entry.task))
    }
    let running = workforce.living.filter { worker in
      let current = workforce.workers[worker.index].current
      return !current.isNone && isService(current)
    }.map {
      (service: workforce.workers[$0.index].current, share: workforce.workers[$0.index].share)
    }
    for (service, share) in running {
      guard !needed.contains(service), let share, resources.helps(share, amounts, at: site) else {
        continue
      }
      // What needs it goes before it, and it with a later look.
      let behind = running.map(\.service).filter { other in
        (other == service || servicesWanted(by: other).contains(service))
          && !running.contains { servicesWanted(by: $0.service).contains(other) }
      }
      for idle in behind where isOnlyServices || !stands(idle) {
        if stands(idle) { services.deferred.insert(idle) }
        end(idle, at: now, into: &actions)
      }
    }
  }

  /// Tasks, no services, that a worker has or that hold a share.
  private var usersAtWork: [TaskID] {
    (workforce.living.map { workforce.workers[$0.index].current }
      + services.waiting.map(\.task)).filter { !$0.isNone && !isService($0) }
  }

  // MARK: - Ends

  /// A try of a service ended, however that was.
  mutating func serviceEnded(
    _ service: TaskID, _ end: consuming Transition, at now: Instant,
    into actions: inout StepQueue
  ) {
    var transition = end
    let wasUp = services.isUp(service)
    let wasUnneeded =
      services.stopping.contains(service) || transition.outcome.reason == .stopped(.unneeded)
    let lost = services.takeLoss(of: service)
    let need = leaveKeptOver(service)
    // It may have gone with what it needs before it was told to.
    if lost != nil, transition.outcome.reason == nil {
      transition.outcome.reason = .stopped(.serviceLost)
    }
    let isCancelled = graph.has(.cancelling, service)
    graph.unmark(service, .cancelling)
    leaveUsers(of: service, at: now, into: &actions)
    if transition.outcome.reason == .output {
      transition.event = .failure
      settle(service, as: .failed, transition, into: &actions)
      return stop(.ioError, at: now, into: &actions)
    }
    if isCancelled {
      cancelled += 1
      return cancelService(service, transition, into: &actions)
    }
    if wasUnneeded {
      if let need { transition.what = plan.nameString(need) }
      return endUnneeded(service, transition, wasUp: wasUp, into: &actions)
    }
    switch transition.outcome.reason {
    case .stopped(.serviceLost) where phase.stopCause == nil:
      transition.what = lost.map { plan.nameString($0) } ?? transition.what
      let isLeft = plan.services(neededBy: service).allSatisfy {
        !graph.state($0).isTerminal || graph.state($0).isSuccess
      }
      if isLeft { return waitAgain(service, transition, into: &actions) }
      transition.event = .failure
      settle(service, as: .failed, transition, into: &actions)
    case .stopped,
      _ where phase.isStopped(transition.outcome):
      transition.outcome.reason = .stopped(phase.stopReason)
      cancelService(service, transition, into: &actions)
    case nil where wasUp:
      endByItself(service, transition, into: &actions)
    case nil:
      transition.outcome.reason = .unready
      transition.event = .failure
      settle(service, as: .failed, transition, into: &actions)
    case .timeout, .refused, .output, .fetch, .fetchFinal, .workerLost, .interrupted,
      .revoked, .value, .input, .noOutput, .memory, .rejected, .unready, .ended:
      transition.event = .failure
      settle(service, as: .failed, transition, into: &actions)
    }
  }

  private mutating func cancelService(
    _ service: TaskID, _ end: Transition, into actions: inout StepQueue
  ) {
    var transition = end
    transition.event = .cancel
    if case .stopped = transition.outcome.reason {
    } else {
      transition.outcome.reason = .stopped(.cancel)
    }
    settle(service, as: .cancelled, transition, into: &actions)
  }

  /// Nothing needed it any more, or for a while.
  private mutating func endUnneeded(
    _ service: TaskID, _ end: Transition, wasUp: Bool, into actions: inout StepQueue
  ) {
    var transition = end
    let isOpen = hasOpenUser(service) || stands(service) && mayStand
    // A service that a cancel stopped before it was ready did not succeed.
    if !isOpen, wasUp || phase.stopCause == nil {
      transition.event = .success
      transition.outcome.reason = nil
      transition.fingerprint = plan.fingerprint(service)
      return settle(service, as: .succeeded, transition, into: &actions)
    }
    if phase.stopCause != nil {
      transition.outcome.reason = .stopped(phase.stopReason)
      return cancelService(service, transition, into: &actions)
    }
    transition.outcome.reason = .stopped(.unneeded)
    waitAgain(service, transition, into: &actions)
  }

  /// It is idle again, and costs no start. Where something of it may still run, it has failed.
  private mutating func waitAgain(
    _ service: TaskID, _ end: Transition, into actions: inout StepQueue
  ) {
    var transition = end
    if transition.leavesAlive {
      transition.event = .failure
      return settle(service, as: .failed, transition, into: &actions)
    }
    transition.event = .interrupt
    graph.set(service, .waiting)
    actions.append(.tell(.transition(transition)))
    becomeReadyAgain(service, into: &actions)
  }

  /// It was ready, and is not to end: it starts again, as often as it may.
  private mutating func endByItself(
    _ service: TaskID, _ end: Transition, into actions: inout StepQueue
  ) {
    var transition = end
    transition.outcome.reason = .ended
    triesUsed[service.index] += 1
    guard phase.stopCause == nil, !transition.leavesAlive,
      Int(triesUsed[service.index]) <= plan.restarts(of: service)
    else {
      transition.event = .failure
      return settle(service, as: .failed, transition, into: &actions)
    }
    transition.event = .retry
    graph.set(service, .waiting)
    actions.append(.tell(.transition(transition)))
    becomeReadyAgain(service, into: &actions)
  }
}
