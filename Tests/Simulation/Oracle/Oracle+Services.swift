import OpflowEngine
import OpflowJournal
import OpflowPlan
import OpflowWire

/// What an outside observer sees of services.
extension Oracle {
  func isService(_ task: TaskID) -> Bool { plan.isService(task) }

  /// A task starts: what it needs of services is ready, and runs.
  func checkServices(of task: TaskID) throws(Finding) {
    for service in plan.services(neededBy: task) {
      if stand[service.index] == .over {
        // What needs one that is ruled out by its `if` runs without it.
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

  /// By that a service ended, or never began, since nothing needed it.
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

  /// Nothing that needs a service is on any worker when that is told to end for want of use.
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

  /// A service is told to end: once for each try, and while it runs.
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

  /// Whether a service was ready and has no end, as the journal tells it.
  func isUp(_ service: TaskID, _ attempt: Int32) -> Bool {
    stand[service.index] == .running && lastAttempt[service.index] == attempt
      && ready.contains(service)
  }

  /// How a try ended, as somebody saw who saw its processes.
  func end(of task: TaskID, _ attempt: Int32) -> Outcome? {
    ended[Try(task: task, attempt: attempt)]
  }

  /// What an earlier drive left up; it may have ended since.
  mutating func take(_ passed: PassedOn) throws(Finding) {
    let (task, attempt) = (passed.held.service, passed.held.attempt)
    started.insert(Try(task: task, attempt: attempt))
    if passed.worker.commands.tree != nil, passed.worker.phase != .dead {
      live[task] = passed.held.worker
      try stock.take(task, at: .local)
    }
    if let end = passed.end { ended[Try(task: task, attempt: attempt)] = end }
  }

  /// The end of a try of a service; how it ended was seen.
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
    // A worker that is gone did not tell what it saw.
    if line.event == .success || line.event == .failure, reason != .workerLost, let seen {
      guard seen.status == line.outcome.status else { throw fault(task, "it did not end so") }
    }
  }

  /// A task ended since a service was gone.
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

/// What is expected of services where nothing is disturbed.
enum ExpectedServices {
  /// Tasks whose end hangs on which of them comes first: services that never are ready, and what
  /// needs them.
  ///
  /// - Parameter standing: services that nothing needed as they came.
  static func tainted(
    _ plan: Plan, _ tasks: [SimulatedManifest.Task], standing: Set<TaskID>
  ) -> Set<TaskID> {
    guard plan.hasServices else { return [] }
    var tainted: Set<TaskID> = []
    for index in plan.topologicalOrder {
      let task = TaskID(index)
      let simulated = tasks[task.index]
      // One that nobody needed may have ended before what came to need it did.
      let isUnsound =
        simulated.service.map {
          !$0.isSound || !simulated.valuesRead.isEmpty || $0.mayEnd && standing.contains(task)
        } ?? false
      let isBehind = plan.needs(task).contains { tainted.contains(TaskID(plan.needTargets[$0])) }
      if isUnsound || isBehind { tainted.insert(task) }
    }
    // What stays may be ended before it has begun, when nothing needs it any more.
    tainted.formUnion(standing)
    // Whether anything started may hang on it.
    for index in plan.tasks where !tainted.isEmpty {
      if plan.flags(TaskID(index)).contains(.finally) { tainted.insert(TaskID(index)) }
    }
    // Services that only such tasks need may be used, or not.
    for index in plan.topologicalOrder.reversed() where plan.isService(TaskID(index)) {
      let users = plan.dependents(TaskID(index))
      if users.contains(where: { tainted.contains(plan.dependent($0)) }) {
        tainted.insert(TaskID(index))
      }
    }
    return tainted
  }
}

/// The ports that are found for a service: others for each try.
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
  /// Whether a service was ended for a while.
  func gaveWay(_ service: TaskID) -> Bool { wasInterrupted(service, .stopped(.unneeded)) }

  func lostWorker(of service: TaskID) -> Bool { wasInterrupted(service, .workerLost) }

  /// Whether it ended while it was ready, and was to start again.
  func endedByItself(_ service: TaskID) -> Bool {
    lines.contains { $0.transition.task == service && $0.transition.outcome.reason == .ended }
  }

  /// Services that were taken out of their end for what was added: they run as if they had none.
  var servicesTakenBack: [TaskID] {
    lines.lazy.map(\.transition).filter { $0.event == .resume(.skippedBefore) }.map(\.task)
      .filter { oracle.isService($0) }
  }

  /// Whether it was taken out of its end for what was added, and nothing came to need it.
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

  /// Whoever is to start what needs a service was told, right before, which ports that has. It may
  /// have ended since the start was decided, which ends what starts now.
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
