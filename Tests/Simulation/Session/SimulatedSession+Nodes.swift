import OpflowEngine
import OpflowJournal
import OpflowPlan
import OpflowWire

/// A node other than the coordinator's host.
struct SimulatedNode {
  var machine: Int32
  var cpu: UInt64
  var memory: UInt64
  var gpus: UInt64
  /// It reported its resources when it joined.
  var tells: Bool
  var isThere = true
  var isLeaving = false
  /// Its stream is lost: no message gets through in either direction.
  var isSilent = false
}

/// Nodes that join, leave and return.
extension SimulatedSession {
  /// - Parameter hasTime: it has no end.
  mutating func joinNode(hasTime: Bool = false) throws(Finding) {
    guard options.usesNodes, !engine.isClosing else { return }
    let tells = hasTime || random.chance(70)
    let number = Int32(nodes.count + 1)
    // A machine may return, or have two streams.
    let machine = random.chance(30) ? nodes.randomElement(using: &random)?.machine : nil
    // Workers do not report memory.
    let node = SimulatedNode(
      machine: machine ?? number, cpu: UInt64(1 + random.below(4)),
      memory: tells ? 1 << UInt64(28 + random.below(3)) : .max,
      gpus: !tells ? 0 : hasTime ? 3 : UInt64(random.below(4)), tells: tells)
    nodes.append(node)
    let here = devicesHere(of: node, number)
    oracle.stock.join(cpu: node.cpu, memory: node.memory, gpus: node.gpus, here: here)
    var offer = NodeOffer(cpu: node.cpu, memoryBytes: node.memory, gpus: node.gpus)
    if !hasTime, tells, random.chance(25) {
      let end = now.advanced(byMilliseconds: Int64(10 + random.below(600)))
      // The end of a node's time disturbs its tasks.
      if !injector.isNone { offer.endsAt = end }
    }
    var identity = NodeIdentity(
      machine: node.machine, host: "node\(node.machine)", incarnation: "7.\(number)",
      leaseMilliseconds: 5000)
    identity.devicesHere = here
    oracle.far.expect(NodeID(number), identity, tells ? offer : nil, at: now)
    try tell(.nodeJoined(NodeID(number), tells ? offer : nil, identity))
  }

  /// Some nodes are the coordinator's host, like a batch job's first node, with some or all of its
  /// GPUs. Uses no random number, so that seeds keep their meaning.
  private func devicesHere(of node: SimulatedNode, _ number: Int32) -> [Int?] {
    let draw = options.seed &+ UInt64(number) &* 7
    guard node.gpus > 0, draw % 3 == 0 else { return [] }
    let shift = Int(draw / 3 % 3)
    return (0..<Int(node.gpus)).map { $0 + shift < Int(options.gpus) ? $0 + shift : nil }
  }

  /// Loses a node with all its workers at once.
  mutating func loseNode(_ node: NodeID) throws(Finding) {
    nodes[node.index - 1].isThere = false
    for index in workers.indices where workers[index].node == node {
      failedLaunches.removeAll { $0 == workers[index].id }
      oracle.endAll(on: workers[index].id)
      let task = engine.runningTask(of: workers[index].id)
      if !oracle.toldOutliving.contains(task) { oracle.outliving.remove(task) }
      oracle.forgetLaunch(of: workers[index].id)
      workers[index].forgetTasks()
      workers[index].phase = .gone
      lostWorkers += 1
    }
    oracle.far.expectLoss(of: node)
    try tell(.nodeLost(node, complaint: "its machine is gone"))
  }

  /// Preempts a node: its workers die, or end their tasks.
  private mutating func leaveNode(_ node: NodeID) throws(Finding) {
    nodes[node.index - 1].isLeaving = true
    oracle.far.expectLeaving(of: node)
    try tell(.nodeLeaving(node, complaint: "preempted"))
    for index in workers.indices where workers[index].node == node {
      switch workers[index].phase {
      case .talking where random.chance(50): workers[index].commands.tree?.isAskedToEnd = true
      case .talking, .frozen, .launching: workers[index].phase = .dead
      case .dead, .gone: break
      }
    }
  }

  mutating func changeNodes() throws(Finding) {
    if random.chance(15), try changeEnd() { return }
    if random.chance(10), !oracle.far.areKnown {
      oracle.far.areKnown = true
      return try tell(.nodesKnown)
    }
    let there = numbers { $0.isThere }
    guard let node = there.randomElement(using: &random), random.chance(50) else {
      return try joinNode()
    }
    let isSilent = nodes[node.index - 1].isSilent
    if injector.silencesNodes, !isSilent, random.chance(40) { return try silenceNode(node) }
    if !isSilent, !nodes[node.index - 1].isLeaving, random.chance(50) {
      return try leaveNode(node)
    }
    try loseNode(node)
  }

  /// Its workers continue with their last commands until the node is lost.
  private mutating func silenceNode(_ node: NodeID) throws(Finding) {
    nodes[node.index - 1].isSilent = true
    oracle.far.expectSilence(of: node)
    try tell(.nodeSilent(node, complaint: "its stream is lost"))
  }

  /// True if no message reaches the worker or comes from it.
  func isUnheard(_ worker: SimulatedWorker) -> Bool {
    worker.node != .local && nodes[worker.node.index - 1].isSilent
  }

  /// Changes the time limit of a node.
  private mutating func changeEnd() throws(Finding) -> Bool {
    let there = numbers { $0.isThere && $0.tells && !$0.isLeaving && !$0.isSilent }
    guard let node = there.randomElement(using: &random) else { return false }
    let end =
      random.chance(30) ? nil : now.advanced(byMilliseconds: Int64(random.below(900)))
    oracle.far.expectEnd(end, of: node)
    try tell(.nodeEnds(node, end))
    return true
  }

  // MARK: - Journal lines

  mutating func take(_ entry: NodeEntry) throws(Finding) {
    log?("    site \(entry.node.rawValue) \(entry.state) \(entry.detail)")
    if entry.state == .leaving { nodes[entry.node.index - 1].isLeaving = true }
    model.take(entry)
    try oracle.far.take(entry, at: now)
  }

  func check(_ entry: WorkerEntry) throws(Finding) {
    if entry.node != workers[entry.worker.index].node {
      throw Finding("worker \(entry.worker.rawValue) is told of on another site")
    }
  }

  /// Takes a signal, or the exhaustion of nodes.
  mutating func take(_ stop: StopEntry) throws(Finding) {
    model.take(stop)
    if !stop.detail.isEmpty, stopCause == nil {
      stopCause = .signal(stop.signal)
      oracle.endHolds()
    }
    try oracle.take(stop, cause: stopCause)
  }

  // MARK: - Events

  /// Announces that no further node will join.
  mutating func exhaustNodes() throws(Finding) {
    oracle.far.isExhausted = true
    try tell(.nodesExhausted(complaint: "there are no more"))
  }

  /// Called when no other move is possible: loses a leaving or silent node, or lets nodes join or
  /// be exhausted if tasks are waiting. Returns whether anything was done.
  mutating func tendNodes() throws(Finding) -> Bool {
    guard options.usesNodes, !engine.isClosing else { return false }
    if let node = numbers({ $0.isThere && ($0.isLeaving || $0.isSilent) }).first {
      try loseNode(node)
      return true
    }
    guard !oracle.far.isExhausted, !oracle.isSuspended, !oracle.isPaused,
      plan.tasks.contains(where: {
        engine.state(TaskID($0)) == .ready && !oracle.isBoundHere(TaskID($0))
          && !oracle.isService(TaskID($0))
      })
    else { return false }
    if !injector.isNone, random.chance(30) {
      try exhaustNodes()
    } else {
      try joinNode(hasTime: true)
    }
    return true
  }

  /// With a bad machine, returns its workers that have a task, if there are any; else all workers.
  func victims(among alive: [Int]) -> [Int] {
    guard injector.blamesMachine else { return alive }
    let blamed = alive.filter {
      let worker = workers[$0]
      return worker.node != .local && nodes[worker.node.index - 1].machine == 1
        && worker.commands.tree?.exists == true
    }
    return blamed.isEmpty ? alive : blamed
  }

  private func numbers(_ isMeant: (SimulatedNode) -> Bool) -> [NodeID] {
    nodes.indices.filter { isMeant(nodes[$0]) }.map { NodeID(Int32($0 + 1)) }
  }

  /// Returns the contents of a worker's hello.
  func offer(of worker: SimulatedWorker) -> WorkerOffer {
    let cores = worker.node == .local ? 1 : Int(nodes[worker.node.index - 1].cpu)
    return WorkerOffer(cores: cores, actions: .all)
  }
}
