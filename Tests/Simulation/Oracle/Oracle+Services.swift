import OpflowEngine
import OpflowJournal
import OpflowPlan
import OpflowWire

/// Services as an outside observer sees them.
extension Oracle {
  func isService(_ task: TaskID) -> Bool { plan.isService(task) }

  /// Checks that all services that a starting task needs are ready and running.
  func checkServices(of task: TaskID) throws(Finding) {
    for service in plan.services(neededBy: task) {
      if stand[service.index] == .over {
        // Dependents of a service with a false `if` run without it.
        let isRuledOut = plan.flags(service).contains(.conditionFalse)
        if overBefore.contains(service) && !isRuledOut || isOver(ends[service]?.event) {
          throw fault(task, "it starts without \(plan.nameString(service)), which is over")
        }
        continue
      }
      guard stand[service.index] == .running, ready.contains(service) else {
        throw fault(task, "it starts before \(plan.nameString(service)) is ready")
      }
      if leaving[service] == lastAttempt[service.index] {
        throw fault(task, "it starts with \(plan.nameString(service)), which was told to end")
      }
    }
  }

  /// The service ended, or never began, because no task needed it.
  private func isOver(_ end: TransitionEvent?) -> Bool {
    switch end {
    case .success, .skip(.unused): true
    default: false
    }
  }

  func portsNow(of task: TaskID) -> [TaskID: [UInt16]] {
    var found: [TaskID: [UInt16]] = [:]
    for service in plan.services(neededBy: task) where ready.contains(service) {
      found[service] = ports[service] ?? []
    }
    return found
  }

  /// Checks that no worker has a dependent of a service that is stopped as unneeded.
  func checkUnneeded(_ service: TaskID) throws(Finding) {
    for edge in plan.dependents(service) {
      let user = plan.dependent(edge)
      if stand[user.index] == .running || isLive(user) {
        throw fault(service, "it is ended as unneeded, and \(plan.nameString(user)) runs")
      }
    }
  }

  mutating func takeReady(_ line: Transition) throws(Finding) {
    let service = line.task
    guard isService(service), stand[service.index] == .running, ready.insert(service).inserted
    else { throw fault(service, "ready while \(stand[service.index])") }
    let found = SimulatedPorts.of(service, attempt: line.attempt, plan)
    guard line.detail == ServicePorts(plan.portNames(of: service), found).text else {
      throw fault(service, "ready with ports that it does not have: \(line.detail)")
    }
    ports[service] = found
  }

  /// Records the stop of a service: at most once per attempt, while it runs.
  mutating func takeStopping(_ line: Transition) throws(Finding) {
    let service = line.task
    guard isService(service), stand[service.index] == .running,
      line.attempt == lastAttempt[service.index],
      stopping.updateValue(line.attempt, forKey: service) != line.attempt
    else { throw fault(service, "told to end while \(stand[service.index])") }
    if far.isLost(far.node(of: service)) {
      throw fault(service, "told to end on a machine that is lost")
    }
    if line.outcome.reason == .stopped(.unneeded) { unneeded[service] = line.attempt }
  }

  /// True if the service was ready and has not ended, according to the journal.
  func isUp(_ service: TaskID, _ attempt: Int32) -> Bool {
    stand[service.index] == .running && lastAttempt[service.index] == attempt
      && ready.contains(service)
  }

  /// Returns the end of an attempt as seen by an observer of its processes.
  func end(of task: TaskID, _ attempt: Int32) -> Outcome? {
    ended[Try(task: task, attempt: attempt)]
  }

  /// Adds a service that an earlier session passed on; it may have ended since.
  mutating func take(_ passed: PassedOn) throws(Finding) {
    let (task, attempt) = (passed.held.service, passed.held.attempt)
    started.insert(Try(task: task, attempt: attempt))
    if passed.worker.commands.tree != nil, passed.worker.phase != .dead {
      live[task] = passed.held.worker
      try stock.take(task, at: .local)
    }
    if let end = passed.end { ended[Try(task: task, attempt: attempt)] = end }
  }

  /// Checks the end of a service's attempt against its observed end.
  mutating func endOfService(_ line: Transition, seen: Outcome?) throws(Finding) {
    let task = line.task
    let wasReady = ready.remove(task) != nil
    let reason = line.outcome.reason
    switch line.event {
    case .success:
      try checkUnneeded(task)
      guard reason == nil else { throw fault(task, "a success with a reason") }
    case .interrupt where reason == .stopped(.unneeded): try checkUnneeded(task)
    case .retry:
      guard wasReady, reason == .ended else { throw fault(task, "tried again, and was not ready") }
      retries[task.index] += 1
      guard retries[task.index] <= plan.restarts(of: task) else {
        throw fault(task, "it starts again too often")
      }
      gone.insert(task)
    default:
      if line.outcome.reason != .revoked { gone.insert(task) }
      if reason == .ended, !wasReady { throw fault(task, "it ended in use, and was not ready") }
      if reason == .unready, wasReady { throw fault(task, "it was ready") }
    }
    // A lost worker did not report the end.
    if line.event == .success || line.event == .failure, reason != .workerLost, let seen {
      guard seen.status == line.outcome.status else { throw fault(task, "it did not end so") }
    }
  }

  /// Checks that a task stopped for a lost service needs a service that was lost.
  func checkLoss(_ line: Transition) throws(Finding) {
    guard line.outcome.reason == .stopped(.serviceLost), !isService(line.task) else { return }
    var open = plan.services(neededBy: line.task)
    while let service = open.popLast() {
      if gone.contains(service) { return }
      open += plan.services(neededBy: service)
    }
    throw fault(line.task, "no service that it needs was lost")
  }
}

/// Expectations for services in undisturbed sessions.
enum ExpectedServices {
  /// Returns tasks whose end depends on timing: services that never become ready, and their
  /// dependents.
  ///
  /// - Parameter standing: services without dependents when they were added.
  static func tainted(
    _ plan: Plan, _ tasks: [SimulatedManifest.Task], standing: Set<TaskID>
  ) -> Set<TaskID> {
    guard plan.hasServices else { return [] }
    var tainted: Set<TaskID> = []
    for index in plan.topologicalOrder {
      let task = TaskID(index)
      let simulated = tasks[task.index]
      // An unneeded service may have ended before its later dependents were added.
      let isUnsound =
        simulated.service.map {
          !$0.isSound || !simulated.valuesRead.isEmpty || $0.mayEnd && standing.contains(task)
        } ?? false
      let isBehind = plan.needs(task).contains { tainted.contains(TaskID(plan.needTargets[$0])) }
      if isUnsound || isBehind { tainted.insert(task) }
    }
    // An unneeded service may be stopped before it has begun.
    tainted.formUnion(standing)
    // `finally` tasks start only if some task started.
    for index in plan.tasks where !tainted.isEmpty {
      if plan.flags(TaskID(index)).contains(.finally) { tainted.insert(TaskID(index)) }
    }
    // Services with tainted dependents may be used or not.
    for index in plan.topologicalOrder.reversed() where plan.isService(TaskID(index)) {
      let users = plan.dependents(TaskID(index))
      if users.contains(where: { tainted.contains(plan.dependent($0)) }) {
        tainted.insert(TaskID(index))
      }
    }
    return tainted
  }
}

/// The ports found for a service, different for each attempt.
enum SimulatedPorts {
  static func of(_ service: TaskID, attempt: Int32, _ plan: Plan) -> [UInt16] {
    plan.portNames(of: service).indices.map {
      UInt16(truncatingIfNeeded: 1 + (Int(service.rawValue) * 64 + Int(attempt) * 4 + $0) % 65_000)
    }
  }
}

extension SimulatedTree {
  func ports(_ plan: Plan) -> [UInt16] { SimulatedPorts.of(task, attempt: attempt, plan) }
}

extension SimulatedSession {
  /// True if a service was stopped temporarily.
  func gaveWay(_ service: TaskID) -> Bool { wasInterrupted(service, .stopped(.unneeded)) }

  func lostWorker(of service: TaskID) -> Bool { wasInterrupted(service, .workerLost) }

  /// True if it ended while ready and had to restart.
  func endedByItself(_ service: TaskID) -> Bool {
    lines.contains { $0.transition.task == service && $0.transition.outcome.reason == .ended }
  }

  /// Ended services that became pending again for added tasks; they run as if they had never ended.
  var servicesTakenBack: [TaskID] {
    lines.lazy.map(\.transition).filter { $0.event == .resume(.skippedBefore) }.map(\.task)
      .filter { oracle.isService($0) }
  }

  /// True if it became pending again for added tasks, but no task came to use it.
  func wasTakenBackInVain(_ service: TaskID) -> Bool {
    let told = lines.lazy.map(\.transition).filter { $0.task == service }
    guard let place = told.lastIndex(where: { $0.event == .resume(.skippedBefore) }) else {
      return false
    }
    return !told[place...].contains { $0.event == .start }
      && told.last?.event == .skip(.unused)
  }

  private func wasInterrupted(_ task: TaskID, _ reason: EndReason) -> Bool {
    lines.contains {
      $0.transition.task == task && $0.transition.event == .interrupt
        && $0.transition.outcome.reason == reason
    }
  }

  /// Checks that a worker gets a service's ports right before the start of its user. The service
  /// may have ended since the start was decided, which ends the user.
  mutating func checkPorts(_ message: WorkerMessage, to worker: WorkerID) throws(Finding) {
    if case .ports(let service, let ports) = message {
      workers[worker.index].ports[service] = ports
      return
    }
    guard let (task, _) = message.start else { return }
    let told = workers[worker.index].ports
    workers[worker.index].ports = [:]
    for (service, ports) in oracle.portsAtStart[task] ?? [:] {
      guard (told[service] ?? []) == ports else {
        let name = plan.nameString(service)
        throw oracle.fault(task, "it starts with \(told[service] ?? []) of \(name), not \(ports)")
      }
    }
  }
}
