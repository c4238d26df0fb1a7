internal import OpflowJournal
package import OpflowPlan

extension Scheduler {
  /// Ends services that are not needed now; skips those that will not be.
  mutating func attendServices() {
    for task in graph.takeMoved() {
      if isService(task) { services.review.touch(task) }
      for service in plan.services(neededBy: task) { services.review.touch(service) }
    }
    // A service may be on a node that it has to leave.
    if options.usesNodes { services.review.touchAll() }
    let conditions = reviewConditions
    services.review.note(conditions)
    var unused: [TaskID] = []
    while let service = services.review.next() {
      lookCount += 1
      if review(service, conditions) { unused.append(service) }
    }
    // A service is reviewed again, and may be here twice, if a review releases its share.
    for service in unused where !graph.state(service).isTerminal {
      pull([service])
      forget([service])
      graph.mark(service, .unused)
      settle(service, as: .skipped, Transition(.skip(.unused), service))
    }
    if !services.deferred.isEmpty, isAtRestButServices, phase.isOrdinary {
      let deferred = services.deferred.sorted { $0.rawValue < $1.rawValue }
      services.deferred.removeAll()
      for service in deferred where graph.state(service) == .ready { offer(service) }
      services.hasRetracted = true
    }
    if !unused.isEmpty || services.hasRetracted {
      services.hasRetracted = false
      dispatch()
    }
    // Other services may have lost their last user with these.
    if !unused.isEmpty { attendServices() }
  }

  /// Returns true if the service will not be needed any more.
  private mutating func review(_ service: TaskID, _ conditions: ServiceReview.Conditions) -> Bool {
    let isActive = services.use.users(of: service) > 0
    let isNeeded =
      isActive
      || isNeededAnyway(service) ?? firstOpenUser(of: service).map {
        mayBeNeeded(
          by: plan.dependents(service, from: $0), conditions, among: services.review.needed)
      } ?? false
    if services.review.note(service, isNeeded: isNeeded) {
      for needed in plan.services(neededBy: service) { services.review.touch(needed) }
    }
    switch graph.state(service) {
    case .running, .suspended:
      if !isNeeded || !isActive && isStranded(service) {
        end(service)
      }
    case .waiting, .ready:
      if !isNeeded { retractTaken([service]) }
      // Retracted tasks get their end with the retraction.
      if additions.isLetGo(service) { return false }
      return !isNeeded && (!stands(service) || services.isLeaving)
        && firstOpenUser(of: service) == nil
    case .checking, .prefetched, .succeeded, .upToDate, .failedAllowed, .failed, .skipped,
      .cancelled:
      break
    }
    return false
  }

  private mutating func firstOpenUser(of service: TaskID) -> Int? {
    services.firstOpenUser(of: service, plan, hasEnded: { graph.state($0).isTerminal })
  }

  private var reviewConditions: ServiceReview.Conditions {
    ServiceReview.Conditions(
      phase: phase, isAtRest: isAtRestButServices && !isKeptOpen, isLeaving: services.isLeaving,
      passedOn: services.passedOn, keptOver: services.keptOver)
  }

  /// A review of all services must find the same as the last ones.
  func checkReview() -> String? {
    guard !graph.hasMoved, services.review.isDone(under: reviewConditions) else { return nil }
    var needed: Set<TaskID> = []
    for service in services.all.reversed()
    where services.use.users(of: service) > 0
      || isNeededAnyway(service)
        ?? mayBeNeeded(by: plan.dependents(service), reviewConditions, among: needed)
    {
      needed.insert(service)
    }
    let differing = needed.symmetricDifference(services.review.needed)
    return differing.first.map { "\(plan.nameString($0)) was not reviewed" }
  }

  /// Nil if the users of the service decide.
  private func isNeededAnyway(_ service: TaskID) -> Bool? {
    // A stopping run does not settle the dependencies of a kept service.
    if services.keptOver.contains(service) && !phase.isOrdinary { return false }
    return stands(service) && mayStand || services.passedOn.contains(service) ? true : nil
  }

  /// - Parameter needed: The needed services among `users`.
  private func mayBeNeeded(
    by users: DependentEdges, _ conditions: ServiceReview.Conditions, among needed: Set<TaskID>
  ) -> Bool {
    for edge in users {
      let user = plan.dependent(edge)
      if graph.state(user).isTerminal { continue }
      if isService(user) {
        if needed.contains(user) { return true }
      } else if mayCome(user, isAtRest: conditions.isAtRest) {
        return true
      }
    }
    return false
  }

  private func mayCome(_ task: TaskID, isAtRest: Bool) -> Bool {
    if plan.flags(task).contains(.finally) {
      return phase.leadsToFinally && services.passedOn.isEmpty
        || phase.step == .finally && !isAtRest && !phase.isKilled
    }
    return phase.step == .main && phase.stopCause == nil && !isAtRest
      && (!phase.isHalted || graph.has(.exempt, task))
  }

  private var mayStand: Bool { phase.isOrdinary && !services.isLeaving }

  var runningServices: Int { graph.runningServices }

  var isAtRestButServices: Bool {
    services.taken.isEmpty && services.keptOver.isEmpty && approvals.isEmpty && checks.isEmpty
      && timers.first == nil && machines.setAside.isEmpty && requests.isEmpty && !phase.isSuspended
      && workforce.heldCount == runningServices && isNothingReadyButServices
  }

  private var isNothingReadyButServices: Bool {
    guard let first = ready.first else { return true }
    return isService(TaskID(ranking.task[Int(first)]))
      && ready.ranks.allSatisfy { isService(TaskID(ranking.task[Int($0)])) }
  }

  var isServing: Bool {
    plan.hasServices && !services.isLeaving && mayStand && isAtRestButServices && !isKeptOpen
      && blocks.waiting.isEmpty && services.standing.contains { graph.state($0).isRunning }
  }

  var servicesWithoutRoom: [TaskID] {
    services.standing.filter { graph.state($0) == .ready }.sorted { $0.rawValue < $1.rawValue }
  }

  var allowServicesNextStep: Bool {
    guard services.taken.isEmpty, services.stopping.isEmpty else { return false }
    if workforce.heldCount == 0 { return true }
    guard phase.leadsToFinally, workforce.heldCount == runningServices else { return false }
    return workforce.living.allSatisfy { worker in
      let record = workforce.workers[worker.index]
      if record.current.isNone { return true }
      return services.review.needed.contains(record.current) && !record.isStopping
        && !record.isDiscarded && !(stands(record.current) && mayStand)
    }
  }

  mutating func leaveService() {
    services.isLeaving = true
    for rank in ready.removeAll() { offer(TaskID(ranking.task[Int(rank)])) }
  }

  mutating func end(_ service: TaskID) {
    guard !services.stopping.contains(service),
      let worker = services.use.workers[service]
    else { return }
    let record = workforce.workers[worker.index]
    if record.isDiscarded || record.isStopping { return }
    services.noteStopping(service)
    stopCurrent(of: worker, .unneeded)
  }

  mutating func makeRoom(for task: TaskID, at node: NodeID) {
    let isOnlyServices = workforce.heldCount == runningServices && !isService(task)
    if services.use.idle.isEmpty, !isOnlyServices || services.use.idleStanding.isEmpty { return }
    let demandClass = resources.demandClass(of: task)
    let together =
      resources.serviceClasses.contains(demandClass)
      ? amountsTogether(task, at: node) : [resources.wanted(demandClass)]
    guard let amounts = together else { return }
    var needed = Set(servicesWanted(by: task))
    for user in usersAtWork { needed.formUnion(servicesWanted(by: user)) }
    if isService(task) {
      for other in services.standing where !graph.state(other).isTerminal {
        needed.formUnion(servicesWanted(by: other))
      }
    }
    // Services that stay up but have not begun give way too, or they would take the resources
    // again. Those taken for a task stay.
    let giveWay = services.taken.all.map(\.task).filter { waiting in
      stands(waiting) && !needed.contains(waiting)
        && (node == .local
          || shares(of: [waiting] + servicesWanted(by: waiting)).contains {
            resources.helps($0, amounts, at: node)
          })
    }
    if isOnlyServices, !giveWay.isEmpty {
      services.deferred.formUnion(giveWay)
      let retracted = Set(giveWay).union(giveWay.flatMap { takenUsers(of: $0) })
      retractTaken(services.taken.all.map(\.task).filter { retracted.contains($0) })
    }
    for entry in services.taken.all where stands(entry.task) {
      needed.formUnion(servicesWanted(by: entry.task))
    }
    let running = workforce.living.filter { worker in
      let current = workforce.workers[worker.index].current
      return !current.isNone && isService(current)
    }.map {
      (service: workforce.workers[$0.index].current, share: workforce.workers[$0.index].share)
    }
    for (service, share) in running {
      guard !needed.contains(service), let share, resources.helps(share, amounts, at: node) else {
        continue
      }
      // Users end first, and the service in a later pass.
      let behind = running.map(\.service).filter { other in
        (other == service || servicesWanted(by: other).contains(service))
          && !running.contains { servicesWanted(by: $0.service).contains(other) }
      }
      for idle in behind where isOnlyServices || !stands(idle) {
        if stands(idle) { services.deferred.insert(idle) }
        end(idle)
      }
    }
  }

  private var usersAtWork: [TaskID] {
    (workforce.living.map { workforce.workers[$0.index].current }
      + services.taken.all.map(\.task)).filter { !$0.isNone && !isService($0) }
  }

  // MARK: - Ends

  mutating func serviceEnded(_ service: TaskID, _ end: consuming Transition) {
    var transition = end
    let wasUp = services.isUp(service)
    let wasUnneeded =
      services.stopping.contains(service) || transition.outcome.reason == .stopped(.unneeded)
    let lost = services.takeLoss(of: service)
    let need = leaveKeptOver(service)
    // The service may have died with a service that it needs.
    if lost != nil, transition.outcome.reason == nil {
      transition.outcome.reason = .stopped(.serviceLost)
    }
    let isCancelled = graph.has(.cancelling, service)
    graph.unmark(service, .cancelling)
    leaveUsers(of: service)
    if transition.outcome.reason == .output {
      transition.event = .failure
      settle(service, as: .failed, transition)
      return stop(.ioError)
    }
    if isCancelled {
      cancelled += 1
      return cancelService(service, transition)
    }
    if wasUnneeded {
      if let need { transition.detail = plan.nameString(need) }
      return endUnneeded(service, transition, wasUp: wasUp)
    }
    switch transition.outcome.reason {
    case .stopped(.serviceLost) where phase.stopCause == nil:
      transition.detail = lost.map { plan.nameString($0) } ?? transition.detail
      let isLeft = plan.services(neededBy: service).allSatisfy {
        !graph.state($0).isTerminal || graph.state($0).isSuccess
      }
      if isLeft { return waitAgain(service, transition) }
      transition.event = .failure
      settle(service, as: .failed, transition)
    case .stopped,
      _ where phase.isStopped(transition.outcome):
      transition.outcome.reason = .stopped(phase.stopReason)
      cancelService(service, transition)
    case nil where wasUp: endByItself(service, transition)
    case nil:
      transition.outcome.reason = .unready
      transition.event = .failure
      settle(service, as: .failed, transition)
    case .timeout, .refused, .output, .fetch, .fetchFinal, .workerLost, .interrupted,
      .revoked, .value, .input, .noOutput, .memory, .rejected, .unready, .ended:
      transition.event = .failure
      settle(service, as: .failed, transition)
    }
  }

  private mutating func cancelService(_ service: TaskID, _ end: Transition) {
    var transition = end
    transition.event = .cancel
    if case .stopped = transition.outcome.reason {
    } else {
      transition.outcome.reason = .stopped(.cancel)
    }
    settle(service, as: .cancelled, transition)
  }

  private mutating func endUnneeded(_ service: TaskID, _ end: Transition, wasUp: Bool) {
    var transition = end
    let isOpen = firstOpenUser(of: service) != nil || stands(service) && mayStand
    // A service cancelled before it was ready has not succeeded.
    if !isOpen, wasUp || phase.stopCause == nil {
      transition.event = .success
      transition.outcome.reason = nil
      transition.fingerprint = plan.fingerprint(service)
      return settle(service, as: .succeeded, transition)
    }
    if phase.stopCause != nil {
      transition.outcome.reason = .stopped(phase.stopReason)
      return cancelService(service, transition)
    }
    transition.outcome.reason = .stopped(.unneeded)
    waitAgain(service, transition)
  }

  private mutating func waitAgain(_ service: TaskID, _ end: Transition) {
    var transition = end
    if transition.leavesAlive {
      transition.event = .failure
      return settle(service, as: .failed, transition)
    }
    transition.event = .interrupt
    graph.set(service, .waiting)
    tell(transition)
    becomeReadyAgain(service)
  }

  private mutating func endByItself(_ service: TaskID, _ end: Transition) {
    var transition = end
    transition.outcome.reason = .ended
    triesUsed[service.index] += 1
    guard phase.stopCause == nil, !transition.leavesAlive,
      Int(triesUsed[service.index]) <= plan.restarts(of: service)
    else {
      transition.event = .failure
      return settle(service, as: .failed, transition)
    }
    transition.event = .retry
    graph.set(service, .waiting)
    tell(transition)
    becomeReadyAgain(service)
  }
}

extension Scheduler {
  // MARK: - Taking over

  mutating func takeOver(_ held: [HeldService]) {
    for entry in held {
      let demandClass = resources.demandClass(of: entry.service)
      let share = resources.take(resources.wantedOfFree(demandClass), of: demandClass, at: .local)
      let worker = workforce.takeOver(
        entry.service, demandClass: demandClass, share, at: Instant(nanoseconds: 0))
      precondition(worker == entry.worker, "workers that were taken over come first")
      services.keepOver(entry.service, entry.ports)
      services.use.noteWorker(worker, of: entry.service)
      noteHeld(entry.service)
    }
  }

  mutating func tellKept() {
    guard !services.keptOver.isEmpty else { return }
    if options.watchesWorkers { workforce.watch.listenAnew(at: now) }
    for service in services.all where services.keptOver.contains(service) {
      var transition = Transition(.ready, service, attempt: attempt[service.index])
      transition.detail = ServicePorts(plan.portNames(of: service), services.up[service] ?? []).text
      tell(transition)
    }
  }

  /// Services with unchanged dependencies stay.
  mutating func attendKept() {
    var outdated: [TaskID] = []
    for service in services.all where services.keptOver.contains(service) {
      let needs = graph.needsOfKept(service) { need in
        services.stayed.contains(need)
          ? .met
          : services.keptOver.contains(need) && !outdated.contains(need) ? .open : .changed(need)
      }
      switch needs {
      case .open: break
      case .met:
        services.confirm(service)
        graph.meetAll(of: service)
        spread(from: service)
      case .changed(let need):
        services.noteOutdated(service, by: need)
        outdated.append(service)
      }
    }
    if outdated.isEmpty { return }
    // A service still used by another one is stopped after it.
    for service in outdated where services.use.users(of: service) == 0 { end(service) }
  }

  /// True if a service of the previous session uses the task's output and must stop first.
  @inline(__always)
  func awaitsEndOfKept(_ task: TaskID) -> Bool {
    !services.keptOver.isEmpty && !graph.has(.mayKeep, task)
      && plan.dependents(task).contains { services.keptOver.contains(plan.dependent($0)) }
  }

  /// Returns the changed dependency.
  mutating func leaveKeptOver(_ service: TaskID) -> TaskID? {
    let (wasKept, need) = services.leaveKeptOver(service)
    guard wasKept else { return nil }
    for edge in plan.needs(service) { letGo(TaskID(plan.needTargets[edge])) }
    return need
  }

  // MARK: - Passing on

  /// In topological order.
  var heldServices: [HeldService] {
    services.all.compactMap { service in
      guard let ports = services.up[service], graph.state(service) == .running,
        let worker = services.use.workers[service]
      else { return nil }
      let record = workforce.workers[worker.index]
      if record.isStopping || record.isDiscarded || record.node != .local { return nil }
      return HeldService(
        service: service, worker: worker, attempt: attempt[service.index], ports: ports)
    }
  }

  mutating func passOn(_ kept: Set<TaskID>) {
    let held = Set(heldServices.map(\.service))
    services.passOn(
      kept.filter { held.contains($0) && servicesWanted(by: $0).allSatisfy(kept.contains) })
    leaveService()
  }

  /// A suspended service and its users are not passed on.
  mutating func keepBack(_ service: TaskID) {
    guard services.passedOn.contains(service) else { return }
    services.passOn(
      services.passedOn.filter { $0 != service && !servicesWanted(by: $0).contains(service) })
  }

  /// Nil if the session ends normally.
  var leavesServices: [HeldService]? {
    if services.passedOn.isEmpty || phase.stopCause != nil { return nil }
    let held = heldServices.filter { services.passedOn.contains($0.service) }
    return held.isEmpty ? nil : held
  }

  mutating func endPassingOn() -> [HeldService]? {
    guard !services.passedOn.isEmpty, phase.step == .main, mayEnd, let held = leavesServices else {
      return nil
    }
    phase.advance(to: .done)
    return held
  }
}

package struct HeldService: Equatable, Sendable {
  package var service: TaskID
  /// Numbered by the session that has it now.
  package var worker: WorkerID
  package var attempt: Int32
  package var ports: [UInt16]

  package init(service: TaskID, worker: WorkerID, attempt: Int32, ports: [UInt16]) {
    self.service = service
    self.worker = worker
    self.attempt = attempt
    self.ports = ports
  }
}
