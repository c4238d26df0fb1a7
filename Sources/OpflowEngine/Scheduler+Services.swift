internal import OpflowJournal
internal import OpflowPlan
internal import OpflowWire

extension Scheduler {
  @inline(__always)
  func isService(_ task: TaskID) -> Bool { plan.hasServices && plan.isService(task) }

  /// The service stays up without users.
  func stands(_ service: TaskID) -> Bool { services.standing.contains(service) }

  private func isIdle(_ service: TaskID) -> Bool {
    graph.state(service) == .ready && services.taken[service] == nil
  }

  /// The service then starts without users.
  private func isQueued(_ service: TaskID) -> Bool {
    stands(service) && !graph.has(.held, service) && !services.deferred.contains(service)
  }

  /// No user starts with the service any more.
  @inline(__always)
  private func isLeaving(_ service: TaskID) -> Bool {
    services.stopping.contains(service) || services.hasLoss(service)
      || graph.has(.cancelling, service)
  }

  /// Returns direct and indirect services in start order, without ended ones and the services that
  /// these need.
  func servicesWanted(by task: TaskID) -> [TaskID] {
    let all = resources.serviceClasses.services(of: task)
    guard all.contains(where: { graph.state($0).isTerminal }) else { return all }
    var wanted: Set<TaskID> = []
    var open = plan.services(neededBy: task)
    while let service = open.popLast() {
      guard !graph.state(service).isTerminal, wanted.insert(service).inserted else { continue }
      open += plan.services(neededBy: service)
    }
    return all.filter { wanted.contains($0) }
  }

  func takenUsers(of service: TaskID) -> [TaskID] {
    if services.taken.isEmpty || services.use.users(of: service) == 0 { return [] }
    return services.taken.all.map(\.task).filter { servicesWanted(by: $0).contains(service) }
  }

  // MARK: - Taking

  /// Returns services in start order; nil if the task must wait for one of them.
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

  func sharesOfServices(of task: TaskID) -> [Share] { shares(of: servicesWanted(by: task)) }

  func shares(of services: [TaskID]) -> [Share] {
    services.compactMap { service in
      self.services.taken[service]?.share
        ?? self.services.use.workers[service].flatMap { workforce.workers[$0.index].share }
    }
  }

  func amountsTogether(_ task: TaskID, with toStart: [TaskID], at node: NodeID) -> [[DemandItem]] {
    resources.together(
      (toStart + [task]).map { resources.demandClass(of: $0) }, with: sharesOfServices(of: task),
      at: node)
  }

  /// Nil if the task must wait for one of its services.
  func amountsTogether(_ task: TaskID, at node: NodeID) -> [[DemandItem]]? {
    servicesToStart(with: task).map { amountsTogether(task, with: $0, at: node) }
  }

  mutating func takeTogether(_ task: TaskID, at node: NodeID) {
    guard let toStart = servicesToStart(with: task) else {
      preconditionFailure("the services of a task to start cannot start")
    }
    let amounts = amountsTogether(task, with: toStart, at: node)
    for service in toStart where isQueued(service) {
      ready.take(ranking.rank[service.index], demandClass: resources.demandClass(of: service))
    }
    for (task, amounts) in zip(toStart + [task], amounts) {
      graph.unmark(task, .held)
      services.deferred.remove(task)
      let demandClass = resources.demandClass(of: task)
      let share = resources.take(amounts, of: demandClass, at: node)
      services.taken.append(
        task, demandClass: demandClass, share, kind: workerKind(of: task),
        having: plan.services(neededBy: task))
      noteHeld(task)
    }
    for service in toStart { wakeUsers(of: service) }
    startTaken()
  }

  private func kindOfUse(_ task: TaskID) -> ServiceUse.Kind {
    isService(task) ? stands(task) ? .standingService : .service : .task
  }

  mutating func noteHeld(_ task: TaskID) {
    services.use.hold(task, kindOfUse(task), having: plan.services(neededBy: task))
  }

  mutating func release(_ share: Share?, of task: TaskID) {
    if let share { resources.give(share) }
    guard plan.hasServices, !task.isNone else { return }
    let needed = plan.services(neededBy: task)
    if needed.isEmpty, !isService(task) { return }
    let standing = services.standing
    services.use.release(task, having: needed) {
      standing.contains($0) ? .standingService : .service
    }
    for service in needed + [task] { services.review.touch(service) }
  }

  mutating func noteServiceOver(_ service: TaskID) {
    services.taken.settle(service)
    wakeUsers(of: service)
  }

  /// Users want less once a service runs, or has ended.
  mutating func wakeUsers(of service: TaskID) {
    for demandClass in resources.serviceClasses.demandClasses(using: service) {
      ready.wake(demandClass)
    }
  }

  mutating func startTaken() {
    if machines.haveEnds { retractWithoutTime() }
    for (task, place) in services.taken.takeUnsettled() {
      if !waitsForService(task, from: place) { services.taken.waitForWorker(task) }
    }
    while let entry = services.taken.first(of: services.taken.pools.filter { isFree($0) }) {
      if waitsForService(entry.task, from: 0) { continue }
      _ = services.taken.remove(entry.task)
      let (worker, isNew) = workforce.claim(entry.kind, at: entry.share.node, now: now)
      if isNew { steps.append(.launch(worker, entry.kind, entry.share.node)) }
      if entry.kind == .service { services.use.noteWorker(worker, of: entry.task) }
      if workforce.assign(
        entry.task, demandClass: entry.demandClass, entry.share, to: worker, at: now)
      {
        start(entry.task, on: worker)
      }
    }
    for pool in services.taken.pools where pool.kind == .service {
      while workforce.launching(.service, at: pool.node) < services.taken.count(of: pool),
        workforce.mayLaunch(.service, at: pool.node)
      {
        steps.append(
          .launch(workforce.launch(.service, at: pool.node, now: now), .service, pool.node))
      }
    }
  }

  private func isFree(_ pool: TakenTasks.PoolID) -> Bool {
    pool.kind == .service
      ? workforce.hasIdle(pool.kind, at: pool.node) : workforce.canTake(pool.kind, at: pool.node)
  }

  /// Waits for the first service, from `place` on, that is not up.
  private mutating func waitsForService(_ task: TaskID, from place: Int) -> Bool {
    let needed = services.taken.services(of: task)
    for place in needed.indices.dropFirst(place) where !isUp(needed[place]) {
      services.taken.wait(task, for: needed[place], at: place)
      return true
    }
    return false
  }

  /// Mutating, as `placeHere`.
  private mutating func isUp(_ service: TaskID) -> Bool {
    graph.state(service).isTerminal || services.isUp(service) && !isLeaving(service)
  }

  mutating func noteReady(_ service: TaskID, on worker: WorkerID, _ ports: [UInt16]) {
    guard isService(service) else {
      return discard(
        worker,
        complaint: "it reported 'ready' for task number \(service.rawValue), not a service")
    }
    let names = plan.portNames(of: service)
    guard names.count == ports.count else {
      return discard(
        worker,
        complaint: "it reported 'ready' for task number \(service.rawValue) with \(ports.count)"
          + " ports instead of \(names.count)")
    }
    guard services.noteUp(service, ports) else { return }
    if !workforce.workers[worker.index].isStopping { workforce.watch.clearDeadline(of: worker) }
    var transition = Transition(.ready, service, attempt: attempt[service.index])
    transition.detail = ServicePorts(names, ports).text
    tell(transition)
  }

  mutating func tellPorts(of task: TaskID, to worker: WorkerID) {
    if !services.havePorts { return }
    for service in plan.services(neededBy: task) {
      guard let ports = services.up[service], !ports.isEmpty else { continue }
      send(.ports(service, ports), to: worker)
    }
  }

  // MARK: - Releasing

  /// Tasks are ready again, and services idle.
  mutating func retractTaken(_ tasks: [TaskID]) {
    for task in tasks {
      guard let entry = services.taken.remove(task) else { continue }
      release(entry.share, of: task)
      services.hasRetracted = true
      if !isService(task) || stands(task) { offer(task) }
    }
  }

  /// Services stay for tasks that may start.
  mutating func retractTaken() {
    if services.taken.isEmpty { return }
    let tasks = services.taken.all.map(\.task)
    var kept = Set(tasks.filter { mayStart($0) })
    for task in kept { kept.formUnion(servicesWanted(by: task)) }
    retractTaken(tasks.filter { !kept.contains($0) })
  }

  /// Stops running users, and releases the shares of others.
  mutating func leaveUsers(of service: TaskID) {
    services.forget(service)
    retractTaken(takenUsers(of: service))
    if services.use.users(of: service) == 0 { return }
    for worker in workforce.living {
      let record = workforce.workers[worker.index]
      guard !record.current.isNone, servicesWanted(by: record.current).contains(service) else {
        continue
      }
      if record.state == .launching {
        giveBackAssigned(workforce.retract(worker))
      } else if record.state == .busy, !record.isDiscarded, !record.isStopping {
        services.noteLoss(of: service, by: record.current)
        stopCurrent(of: worker, .serviceLost)
      }
    }
  }

  /// The service's end skips the users.
  mutating func retractUsers(of service: TaskID) {
    let state = graph.state(service)
    if state.meets(.success, skippedUpstream: graph.has(.skippedUpstream, service)) { return }
    // The rest of the main phase is left to a resume.
    let isLeft = state == .cancelled && phase.stopCause != nil || phase.step == .finally
    let users = usersInQueues(of: service, isLeft: isLeft)
    pull(users)
    forget(users)
  }

  /// The same for a service that waits again or is skipped.
  mutating func retractAgain(usersOf service: TaskID) {
    if graph.lacksNeed(service) { return retractUsers(of: service) }
    if !graph.waitsForNeed(service) { return }
    pull(usersInQueues(of: service, isLeft: false))
  }

  private func usersInQueues(of service: TaskID, isLeft: Bool) -> [TaskID] {
    var users: [TaskID] = []
    var open = [service]
    while let next = open.popLast() {
      for edge in plan.dependents(next) {
        let user = plan.dependent(edge)
        if isLeft, !plan.flags(user).contains(.finally) { continue }
        guard mayBeSkipped(user), !users.contains(user) else { continue }
        users.append(user)
        if isService(user) { open.append(user) }
      }
    }
    return users
  }

  private func mayBeSkipped(_ user: TaskID) -> Bool {
    switch graph.state(user) {
    case .ready, .checking: true
    case .waiting: graph.has(.delayed, user)
    case .prefetched, .running, .suspended, .succeeded, .upToDate, .failedAllowed, .failed,
      .skipped,
      .cancelled:
      false
    }
  }

  mutating func failUnservableServices(_ complaint: String) -> Bool {
    let wanted = services.taken.all.filter { $0.share.node == .local }.map(\.task)
      .filter { isService($0) }
    for service in wanted where services.taken[service] != nil {
      retractTaken([service])
      leaveUsers(of: service)
      pull([service])
      graph.unmark(service, .held)
      var transition = Transition(.failure, service, reason: .workerLost)
      transition.detail = complaint
      graph.set(service, .waiting)
      settle(service, as: .failed, transition)
    }
    return !wanted.isEmpty
  }
}

extension Scheduler {
  static func groups(_ plan: Plan, staying: Set<TaskID>) -> ServiceGroups {
    ServiceGroups(plan) { staying.contains($0) }
  }

  /// Prefers the node of the group, then the best ones.
  func jointPlace(_ task: TaskID, _ demandClass: Int) -> Place {
    if resources.isLocal(demandClass) { return room(for: task, atOneOf: Resources.here) }
    let (homes, lacksTime) = homes(of: task, demandClass)
    if lacksTime { return .noTime }
    if let bound = resources.binding(of: demandClass) {
      return homes.contains(bound) ? room(for: task, atOneOf: [bound]) : .notYet
    }
    return room(for: task, atOneOf: bestHomes(homes, for: task, demandClass))
  }

  private func room(for task: TaskID, atOneOf nodes: [NodeID]) -> Place {
    guard let toStart = servicesToStart(with: task), let first = nodes.first else { return .notYet }
    let demandClasses = (toStart + [task]).map { resources.demandClass(of: $0) }
    let held = sharesOfServices(of: task)
    for node in nodes
    where resources.fit(resources.together(demandClasses, with: held, at: node), at: node) {
      return .node(node)
    }
    return .noRoom(first)
  }

  /// The nodes in use where the task fits with its services and has time; if none, the largest.
  private func homes(of task: TaskID, _ demandClass: Int) -> (nodes: [NodeID], lackTime: Bool) {
    let able = machines.inUse.filter { resources.hasDevices(for: demandClass, at: $0) }
    let whole = able.filter { resources.isWhole(demandClass, at: $0) }
    let fitting = whole.isEmpty ? resources.largest(of: able) : whole
    guard machines.haveEnds else { return (fitting, false) }
    let need = timeNeed(of: task)
    let inTime = fitting.filter { machines.hasTime(for: need, at: $0, now) }
    return (inTime, inTime.isEmpty && !fitting.isEmpty)
  }

  /// Prefers nodes without losses of the task or its services, then with room for the largest task
  /// of the group, then where its dependencies ran.
  private func bestHomes(_ homes: [NodeID], for task: TaskID, _ demandClass: Int) -> [NodeID] {
    var best = homes
    func prefer(_ isBetter: (NodeID) -> Bool) {
      let better = best.filter(isBetter)
      if !better.isEmpty { best = better }
    }
    for member in [task] + servicesWanted(by: task) {
      guard let lost = machines.losses[member] else { continue }
      prefer { !lost.contains(machines[$0].identity.machine) }
    }
    prefer { resources.isWholeForGroup(of: demandClass, at: $0) }
    let near = nodeOfNeeds(of: task)
    return best.map { (node: $0, load: $0 == near ? -1 : resources.load(of: $0)) }
      .sorted { ($0.load, $0.node.rawValue) < ($1.load, $1.node.rawValue) }.map(\.node)
  }

  // MARK: - Moving

  /// The node is out of use, or the group's ready tasks can only run elsewhere. A silent node is
  /// lost soon, and gets no command before.
  func isStranded(_ service: TaskID) -> Bool {
    guard let node = resources.binding(of: resources.demandClass(of: service)) else { return false }
    let machine = machines[node]
    if !machine.isInUse { return machine.isThere && machine.state != .silent }
    var mayGo = false
    for demandClass in resources.serviceClasses.demandClasses(ofGroupOf: service) {
      guard let rank = ready.head(demandClass) else { continue }
      let task = TaskID(ranking.task[Int(rank)])
      let homes = homes(of: task, demandClass).nodes
      if homes.contains(node) { return false }
      if !homes.isEmpty { mayGo = true }
    }
    return mayGo
  }

  func roomiest(for task: TaskID, _ demandClass: Int) -> NodeID? {
    if let reserved = resources.reservedElsewhere?.node { return reserved }
    let limits = limits(of: task, demandClass)
    return machines.inUse.filter {
      allows(limits, $0) && resources.isWithinCapacity(demandClass, at: $0)
    }.min { resources.load(of: $0) < resources.load(of: $1) }
  }

  /// Users are lost together with services, and must not be stopped for that.
  func usersFirst(_ workers: [WorkerID]) -> [WorkerID] {
    if !plan.hasServices { return workers }
    let depths = Dictionary(uniqueKeysWithValues: services.all.enumerated().map { ($1, $0) })
    return workers.map { worker in
      (worker: worker, depth: depths[workforce.workers[worker.index].current] ?? .max)
    }.sorted { ($1.depth, $0.worker.rawValue) < ($0.depth, $1.worker.rawValue) }.map(\.worker)
  }

  mutating func retractTaken(at node: NodeID) {
    retractTaken(services.taken.all.filter { $0.share.node == node }.map(\.task))
  }

  mutating func retractWithoutTime() {
    let late = services.taken.all.filter { entry in
      let node = entry.share.node
      return node != .local && !isService(entry.task)
        && !machines.hasTime(for: timeNeed(of: entry.task), at: node, now)
    }.map(\.task)
    retractTaken(late)
  }
}
