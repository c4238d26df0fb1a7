internal import OpflowJournal
internal import OpflowPlan

extension Scheduler {
  /// Launches a worker that reports the node's resources, if unknown.
  mutating func join(_ node: NodeID, _ offer: NodeOffer?, _ identity: NodeIdentity) {
    let joined = workforce.join(offer)
    precondition(joined == node, "nodes are numbered in the order in which they join")
    machines.join(identity, offer, at: now)
    var entry = NodeEntry(node, .joined, host: identity.host)
    entry.incarnation = identity.incarnation
    entry.leaseMilliseconds = identity.leaseMilliseconds
    if let offer { entry.note(offer, at: now) }
    steps.append(.tell(.node(entry)))
    if machines.isQuarantined(node) {
      resources.join(NodeOffer(cpu: 0, memoryBytes: 0), devicesHere: identity.devicesHere)
      return shun(identity.machine)
    }
    resources.join(offer ?? NodeOffer(cpu: 0, memoryBytes: 0), devicesHere: identity.devicesHere)
    returnSetAside()
    findBeyondDevices()
    scout(node)
  }

  mutating func scout(_ node: NodeID) {
    guard workforce.wantsScout(node), machines[node].isInUse, !phase.isKilled else { return }
    let worker = workforce.launch(.command, at: node, now: now)
    steps.append(.launch(worker, .command, node))
  }

  mutating func learn(_ told: WorkerOffer, from worker: WorkerID) {
    guard workforce.isAlive(worker) else { return }
    let node = workforce.workers[worker.index].node
    guard workforce.nodes[node.index].isUnknown else { return }
    let offer = NodeOffer(
      cpu: UInt64(max(told.cores, 1)),
      memoryBytes: told.memoryBytes.map { UInt64(max($0, 0)) } ?? .max)
    workforce.setOffer(offer, of: node)
    machines.setOffer(offer, of: node)
    if machines[node].isInUse { resources.setOffer(offer, of: node) }
    returnSetAside()
    findBeyondDevices()
  }

  mutating func lose(_ node: NodeID, complaint: String) {
    guard workforce.isThere(node), node != .local else { return }
    workforce.leave(node)
    machines.lose(node)
    tell(node, .lost, complaint)
    resources.leave(node)
    returnSetAside()
    findBeyondDevices()
    retractTaken(at: node)
    for worker in usersFirst(workforce.nodes[node.index].workers) {
      lose(worker, complaint: complaint)
    }
    readmit()
  }

  mutating func beginLeaving(_ node: NodeID, complaint: String) {
    guard workforce.isThere(node), node != .local, machines.leave(node, complaint) else { return }
    tell(node, .leaving, complaint)
    close(node)
    readmit()
  }

  /// The node's workers keep their tasks until it is lost.
  mutating func silence(_ node: NodeID, complaint: String) {
    guard workforce.isThere(node), node != .local, machines.silence(node) else { return }
    tell(node, .silent, complaint)
    close(node)
    readmit()
  }

  mutating func noteLoss(at node: NodeID) {
    guard node != .local, machines.noteLoss(at: node, now) else { return }
    shun(machines[node].identity.machine)
  }

  private mutating func shun(_ machine: Int32) {
    for node in machines.shun(machine) {
      tell(node, .quarantined, Self.quarantinedText)
      close(node)
    }
  }

  private static let quarantinedText =
    "opflow starts no more tasks there; it lost workers with tasks on it twice within"
    + " \(Machines.suspicionMilliseconds / 1000) s"

  mutating func giveUp(_ node: NodeID, complaint: String) {
    let wasInUse = machines[node].isInUse
    machines.giveUp(node)
    if wasInUse {
      tell(
        node, .quarantined,
        "opflow starts no more tasks there; its workers cannot start: \(complaint)")
      close(node)
    }
    readmit()
  }

  private mutating func readmit() {
    let nodes = machines.readmit()
    if nodes.isEmpty { return }
    for node in nodes {
      tell(node, .readmitted, "no other node is left")
      if let offer = machines[node].offer { resources.setOffer(offer, of: node) }
      scout(node)
    }
    returnSetAside()
  }

  private mutating func close(_ node: NodeID) {
    resources.leave(node)
    returnSetAside()
    retractTaken(at: node)
    for worker in workforce.nodes[node.index].workers {
      let record = workforce.workers[worker.index]
      if record.state == .launching, !record.current.isNone {
        giveBackAssigned(workforce.retract(worker))
      }
      takeBackAll(of: worker)
    }
  }

  private mutating func tell(_ node: NodeID, _ state: NodeState, _ detail: String) {
    var entry = NodeEntry(node, state, host: machines[node].identity.host)
    entry.detail = detail
    steps.append(.tell(.node(entry)))
  }

  // MARK: - Nodes that a task must avoid

  struct Limits {
    /// Empty if the task can run on no other host.
    var avoided: [Int32] = []
    var need: Machines.TimeNeed?
  }

  @inline(__always)
  func limits(of task: TaskID, _ demandClass: Int) -> Limits? {
    machines.mayRestrict ? limitsFound(of: task, demandClass) : nil
  }

  private func limitsFound(of task: TaskID, _ demandClass: Int) -> Limits? {
    var limits = Limits(need: machines.haveEnds ? timeNeed(of: task) : nil)
    if let lost = machines.losses[task] {
      let hasOther = machines.inUse.contains { node in
        !lost.contains(machines[node].identity.machine)
          && resources.isWithinCapacity(demandClass, at: node)
          && machines.hasTime(for: limits.need, at: node, now)
      }
      if hasOther { limits.avoided = lost }
    }
    return limits.avoided.isEmpty && limits.need == nil ? nil : limits
  }

  func allows(_ limits: Limits?, _ node: NodeID) -> Bool {
    guard let limits, node != .local else { return true }
    return !limits.avoided.contains(machines[node].identity.machine)
      && machines.hasTime(for: limits.need, at: node, now)
  }

  func mayRun(_ task: TaskID, at node: NodeID) -> Bool {
    node == .local || allows(limits(of: task, resources.demandClass(of: task)), node)
  }

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

  /// The task waits for another node.
  func lacksTime(for need: Machines.TimeNeed, _ demandClass: Int) -> Bool {
    let able = machines.inUse.filter {
      machines[$0].offer == nil || resources.isWithinCapacity(demandClass, at: $0)
    }
    return !able.isEmpty && able.allSatisfy { !machines.hasTime(for: need, at: $0, now) }
  }

  /// Demands or nodes may have changed.
  mutating func returnSetAside() {
    if machines.setAside.isEmpty { return }
    for task in machines.takeSetAside() { offer(task) }
  }

  /// Waiting tasks need a node, and none is coming.
  var exhaustion: String? {
    guard let why = machines.noneComing, phase.step == .main,
      phase.stopCause == nil, !phase.isSuspended, !phase.isPaused, requests.isEmpty, checks.isEmpty,
      services.taken.isEmpty, workforce.heldCount == runningServices, !workforce.isAnyOnItsWay
    else { return nil }
    if machines.isAnyInUse {
      if let task = lackingDevices {
        return "no remaining node has the GPUs that task \(plan.nameString(task)) needs; \(why)"
      }
      guard let first = machines.setAside.min(by: { $0.rawValue < $1.rawValue }) else {
        return nil
      }
      return "no node has enough time left for task \(plan.nameString(first)); \(why)"
    }
    let waits =
      !machines.setAside.isEmpty
      || ready.ranks.contains {
        !resources.isLocal(resources.demandClass(of: TaskID(ranking.task[Int($0)])))
      }
    return waits ? "no node is left for the waiting tasks; \(why)" : nil
  }
}

extension NodeEntry {
  fileprivate mutating func note(_ offer: NodeOffer, at now: Instant) {
    cores = offer.cpu
    // 0 means unknown.
    memoryBytes = offer.memoryBytes == .max ? 0 : offer.memoryBytes
    gpus = offer.gpus
    leftMilliseconds = offer.endsAt.map { max(0, ($0.nanoseconds - now.nanoseconds) / 1_000_000) }
  }
}

/// Nodes with limited time. Near the end nothing starts there, and tasks are stopped in time.
extension Scheduler {
  mutating func setEnd(_ end: Instant?, of node: NodeID) {
    guard node == .local || workforce.isThere(node) else { return }
    machines.setEnd(end, of: node)
    machines.look(by: now)
    returnSetAside()
    heedEnds()
  }

  /// Services stop after the task.
  func wholeGrace(of task: TaskID) -> Int64 {
    resources.serviceClasses.services(of: task).reduce(grace(of: task)) { $0 + grace(of: $1) }
  }

  private func grace(of task: TaskID) -> Int64 {
    Int64(plan.policy(task).stopGraceMilliseconds)
  }

  mutating func noteEnd(of task: TaskID, on worker: WorkerID) {
    let grace = wholeGrace(of: task)
    for node in [workforce.workers[worker.index].node, .local] {
      if let moment = machines.lastMoment(at: node, graceMilliseconds: grace) {
        machines.look(by: moment)
      }
    }
  }

  mutating func heedEnds() {
    guard machines.takeLook(at: now) else { return }
    for node in machines.working {
      let grace = max(longestGrace(of: workforce.nodes[node.index].workers), machines.leastGrace)
      guard let moment = machines.lastMoment(at: node, graceMilliseconds: grace) else { continue }
      if moment <= now { end(node) } else { machines.look(by: moment) }
    }
    guard machines.ownEnd != nil, phase.stopCause == nil,
      let moment = machines.lastMoment(
        at: .local, graceMilliseconds: longestGrace(of: workforce.living))
    else { return }
    if moment > now { return machines.look(by: moment) }
    stop(
      .signal(Self.terminate), detail: "the time limit of the node that opflow runs on is near")
  }

  /// Services stop after their users.
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

  private mutating func end(_ node: NodeID) {
    machines.noteOver(node)
    beginLeaving(node, complaint: "its time limit is near")
    for worker in workforce.nodes[node.index].workers {
      let record = workforce.workers[worker.index]
      guard record.state == .busy, !record.isDiscarded, !record.isStopping, !record.current.isNone,
        // A service stops after the tasks that need it.
        !isService(record.current)
      else { continue }
      stopCurrent(of: worker, .timeOver)
    }
  }

  func isOver(_ node: NodeID) -> Bool {
    machines.nodes.indices.contains(node.index - 1) && machines[node].isOver
      && workforce.nodes[node.index].workers.allSatisfy {
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
