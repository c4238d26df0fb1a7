/// Services: how they start with those that need them.
extension Scheduler {
  @inline(__always)
  func isService(_ task: TaskID) -> Bool { plan.hasServices && plan.isService(task) }

  /// Whether a service stays though nothing needs it.
  func stands(_ service: TaskID) -> Bool { services.standing.contains(service) }

  /// Whether a service has all that it needs, and nothing began with it.
  private func isIdle(_ service: TaskID) -> Bool {
    graph.state(service) == .ready && !services.isWaiting(service)
  }

  /// Whether an idle service stands in a queue: it stays, and so starts whether anything needs it or not. What comes to its
  /// turn before it takes it along, as it does where what it wants is not free for it alone.
  private func isQueued(_ service: TaskID) -> Bool {
    stands(service) && !graph.has(.held, service) && !services.deferred.contains(service)
  }

  /// Whether a service was told to end, for whatever reason: nothing begins with it any more.
  private func isLeaving(_ service: TaskID) -> Bool {
    services.stopping.contains(service) || services.hasLoss(service)
      || graph.has(.cancelling, service)
  }

  /// The services that a task needs, directly or by others, each behind those that it needs itself; without
  /// those that have their end, and what only these needed.
  func servicesWanted(by task: TaskID) -> [TaskID] {
    let all = resources.serviceLanes.services(of: task)
    guard all.contains(where: { graph.state($0).isTerminal }) else { return all }
    var wanted: Set<TaskID> = []
    var open = plan.services(neededBy: task)
    while let service = open.popLast() {
      guard !graph.state(service).isTerminal, wanted.insert(service).inserted else { continue }
      open += plan.services(neededBy: service)
    }
    return all.filter { wanted.contains($0) }
  }

  /// What holds a share and waits for a service.
  func takenUsers(of service: TaskID) -> Set<TaskID> {
    Set(services.waiting.map(\.task).filter { servicesWanted(by: $0).contains(service) })
  }

  // MARK: - Taking

  /// The services that have to be started with a task, each behind those that it needs itself; nil where it
  /// has to wait for something to be over with one of them.
  func servicesToStart(with task: TaskID) -> [TaskID]? {
    var toStart: [TaskID] = []
    for service in servicesWanted(by: task) {
      if isLeaving(service) || graph.has(.fenced, service) || graph.has(.onHold, service) {
        return nil
      }
      if isIdle(service) { toStart.append(service) }
    }
    return toStart
  }

  /// What is held already by services that a task needs.
  func sharesOfServices(of task: TaskID) -> [Share] { shares(of: servicesWanted(by: task)) }

  /// What is held already by these.
  func shares(of tasks: [TaskID]) -> [Share] {
    if tasks.isEmpty { return [] }
    return services.waiting.filter { tasks.contains($0.task) }.map(\.share)
      + workforce.living.compactMap { worker in
        let record = workforce.workers[worker.index]
        return tasks.contains(record.current) ? record.share : nil
      }
  }

  /// What a task takes there with the services that have to be started for it, in their order.
  func amountsTogether(
    _ task: TaskID, with toStart: [TaskID], at site: SiteID
  ) -> [[DemandItem]] {
    resources.together(
      (toStart + [task]).map { resources.lane(of: $0) }, with: sharesOfServices(of: task), at: site)
  }

  /// The same; nil where it has to wait for something to be over with one of them.
  func amountsTogether(_ task: TaskID, at site: SiteID) -> [[DemandItem]]? {
    servicesToStart(with: task).map { amountsTogether(task, with: $0, at: site) }
  }

  /// Takes there what a task wants, and services that have to be started for it: all fits.
  mutating func takeTogether(
    _ task: TaskID, at site: SiteID, now: Instant, into actions: inout StepQueue
  ) {
    guard let toStart = servicesToStart(with: task) else {
      preconditionFailure("a task was to be started whose services cannot be")
    }
    let amounts = amountsTogether(task, with: toStart, at: site)
    for service in toStart where isQueued(service) {
      ready.take(ranking.rank[service.index], lane: resources.lane(of: service))
    }
    for (task, amounts) in zip(toStart + [task], amounts) {
      graph.unmark(task, .held)
      services.deferred.remove(task)
      let lane = resources.lane(of: task)
      let share = resources.take(amounts, of: lane, at: site)
      services.append(Services.Waiting(task: task, lane: lane, share: share))
    }
    startTaken(at: now, into: &actions)
  }

  /// Starts what is taken and has its services, as far as there are workers.
  mutating func startTaken(at now: Instant, into actions: inout StepQueue) {
    if machines.haveEnds { withdrawWithoutTime(at: now) }
    var place = 0
    // Where one more worker is to be had for a service, each time that one is.
    var wanted: [SiteID] = []
    while place < services.waiting.count {
      let entry = services.waiting[place]
      let kind = workerKind(of: entry.task)
      let site = entry.share.site
      let isFree =
        kind == .service ? workforce.hasIdle(kind, at: site) : workforce.canTake(kind, at: site)
      guard areServicesUp(for: entry.task), isFree else {
        if kind == .service, areServicesUp(for: entry.task) { wanted.append(site) }
        place += 1
        continue
      }
      services.removeWaiting(at: place)
      let (worker, isNew) = workforce.claim(kind, at: site, now: now)
      if isNew { actions.append(.launch(worker, kind, site)) }
      if workforce.assign(entry.task, lane: entry.lane, entry.share, to: worker, at: now) {
        start(entry.task, on: worker, into: &actions)
      }
    }
    for (place, site) in wanted.enumerated() {
      let count = wanted[...place].count { $0 == site }
      guard workforce.launching(.service, at: site) < count, workforce.mayLaunch(.service, at: site)
      else { continue }
      actions.append(
        .launch(workforce.launch(.service, at: site, now: now), .service, site))
    }
  }

  private func areServicesUp(for task: TaskID) -> Bool {
    plan.services(neededBy: task).allSatisfy {
      graph.state($0).isTerminal || services.isUp($0) && !isLeaving($0)
    }
  }

  /// A service says that it is ready.
  mutating func noteReady(
    _ service: TaskID, on worker: WorkerID, _ ports: [UInt16],
    into actions: inout StepQueue
  ) {
    guard isService(service) else {
      return discard(
        worker, complaint: "it said 'ready' of task number \(service.rawValue), no service",
        into: &actions)
    }
    let names = plan.portNames(of: service)
    guard names.count == ports.count else {
      return discard(
        worker,
        complaint: "it said 'ready' of task number \(service.rawValue) with \(ports.count) ports,"
          + " which has \(names.count)", into: &actions)
    }
    guard services.noteUp(service, ports) else { return }
    if !workforce.workers[worker.index].isStopping { workforce.watch.clearDeadline(of: worker) }
    var transition = Transition(.ready, service, attempt: attempt[service.index])
    transition.what = ServicePorts(names, ports).text
    actions.append(.tell(.transition(transition)))
  }

  /// Tells a worker which ports the services have that a task needs, which it is to start.
  func tellPorts(of task: TaskID, to worker: WorkerID, into actions: inout StepQueue) {
    if !services.havePorts { return }
    for service in plan.services(neededBy: task) {
      guard let ports = services.up[service], !ports.isEmpty else { continue }
      actions.append(.order(worker, .ports(service, ports)))
    }
  }

  // MARK: - Giving back

  /// Gives back what is taken for these. Tasks are ready again, and services idle.
  mutating func withdrawTaken(where fits: (TaskID) -> Bool) {
    for entry in services.removeWaiting(where: fits) {
      resources.give(entry.share)
      if !isService(entry.task) || stands(entry.task) { offer(entry.task) }
    }
  }

  /// Gives back what is taken for tasks that must not start any more. A service that would not start by itself now
  /// stays for those that may.
  mutating func withdrawTaken() {
    if services.waiting.isEmpty { return }
    var kept = Set(services.waiting.map(\.task).filter { mayStart($0) })
    for task in kept { kept.formUnion(servicesWanted(by: task)) }
    withdrawTaken { !kept.contains($0) }
  }

  /// A service is gone, or told to go, that its users had: what waits gives back, what runs is ended.
  mutating func leaveUsers(
    of service: TaskID, at now: Instant, into actions: inout StepQueue
  ) {
    services.forget(service)
    let users = takenUsers(of: service)
    withdrawTaken { users.contains($0) }
    for worker in workforce.living {
      let record = workforce.workers[worker.index]
      guard !record.current.isNone, servicesWanted(by: record.current).contains(service) else {
        continue
      }
      if record.phase == .launching {
        giveBackAssigned(workforce.withdraw(worker))
      } else if record.phase == .busy, !record.isDiscarded, !record.isStopping {
        services.noteLoss(of: service, by: record.current)
        stopCurrent(of: worker, .serviceLost, at: now, into: &actions)
      }
    }
  }

  /// A service has an end that does not meet what needs it: what stands in queues is taken out of them, to be
  /// skipped.
  mutating func withdrawUsers(of service: TaskID, into actions: inout StepQueue) {
    let state = graph.state(service)
    if state.meets(.success, skippedUpstream: graph.has(.skippedUpstream, service)) { return }
    // What is left of the main part is the resume's.
    let isLeft = state == .cancelled && phase.stopCause != nil || phase.step == .finally
    let users = usersInQueues(of: service, isLeft: isLeft)
    pull(users, into: &actions)
    forget(users)
  }

  /// A service waits anew for what it needs, or is to be skipped for it: what stands in queues was ready with it.
  mutating func withdrawAgain(usersOf service: TaskID, into actions: inout StepQueue) {
    if graph.lacksNeed(service) { return withdrawUsers(of: service, into: &actions) }
    if !graph.waitsForNeed(service) { return }
    pull(usersInQueues(of: service, isLeft: false), into: &actions)
  }

  /// - Parameter isLeft: those of the main part stay what they are.
  private func usersInQueues(of service: TaskID, isLeft: Bool) -> [TaskID] {
    var users: [TaskID] = []
    var open = [service]
    while let next = open.popLast() {
      for edge in plan.dependents(next) {
        let user = plan.dependent(edge)
        if isLeft, !plan.flags(user).contains(.finally) { continue }
        guard mayBeSkipped(user), !users.contains(user) else { continue }
        users.append(user)
        // With it what needs that.
        if isService(user) { open.append(user) }
      }
    }
    return users
  }

  /// Whether it is about to start, or waits for a further try.
  private func mayBeSkipped(_ user: TaskID) -> Bool {
    switch graph.state(user) {
    case .ready, .checking: true
    case .waiting: graph.has(.delayed, user)
    case .handed, .running, .suspended, .succeeded, .upToDate, .failedAllowed, .failed, .skipped,
      .cancelled:
      false
    }
  }

  /// Fails services of this machine that no worker can be had for.
  ///
  /// - Returns: whether there were any.
  mutating func failUnservableServices(
    _ complaint: String, at now: Instant, into actions: inout StepQueue
  ) -> Bool {
    let wanted = services.waiting.filter { $0.share.site == .local }.map(\.task)
      .filter { isService($0) }
    for service in wanted where services.isWaiting(service) {
      withdrawTaken { $0 == service }
      leaveUsers(of: service, at: now, into: &actions)
      pull([service], into: &actions)
      graph.unmark(service, .held)
      var transition = Transition(.failure, service, reason: .workerLost)
      transition.what = complaint
      graph.set(service, .waiting)
      settle(service, as: .failed, transition, into: &actions)
    }
    return !wanted.isEmpty
  }
}
