import OpflowEngine
import OpflowJournal
import OpflowPlan

/// The observed state of nodes: their events and their lines in the journal.
struct FarSights {
  struct Node {
    let identity: NodeIdentity
    var offer: NodeOffer?
    var joinedAt: Instant
    /// The last journaled state; nil before the first line.
    var state: NodeState?
    /// It was told to leave.
    var isExcused = false
    /// Its stream was lost.
    var isSilenced = false
    var isLost = false

    var isInUse: Bool { state == .joined || state == .readmitted }

    /// Its tasks continue and can be told to end, but no task starts there.
    var isClosed: Bool { !isLost && !isSilenced && (state == .leaving || state == .quarantined) }

    /// True if running tasks may have to be told to end.
    func isNearEnd(at now: Instant, _ grace: Int64) -> Bool {
      offer?.endsAt.map { $0 <= now.advanced(byMilliseconds: grace) } ?? false
    }
  }

  /// The largest grace time of a simulated task with its services, in milliseconds.
  private var mostGrace: Int64 = 0

  init(_ plan: Plan) { know(plan) }

  mutating func know(_ plan: Plan) {
    let services = plan.tasks.count { plan.isService(TaskID($0)) }
    mostGrace = 200 * Int64(1 + services)
  }

  private var nodes: [NodeID: Node] = [:]
  /// The machines on which a task was lost, and its number of losses.
  private(set) var lostOn: [TaskID: Set<Int32>] = [:]
  private var lostCount: [TaskID: Int] = [:]
  /// Like `lostOn`, without attempts that were possibly only prefetched, which cost nothing.
  private var surelyLostOn: [TaskID: Set<Int32>] = [:]
  private var surelyLostCount: [TaskID: Int] = [:]
  /// The node of each task's newest attempt.
  private var begunAt: [TaskID: NodeID] = [:]
  /// The time of the last loss on each machine.
  private var moments: [Int32: Instant] = [:]
  /// Machines with two losses within a minute. The loss of a machine's last node adds it without a
  /// line until the machine returns.
  private var suspects: Set<Int32> = []
  /// Machines that take no new tasks.
  private var quarantined: Set<Int32> = []
  /// Nodes that were readmitted together.
  private var readmitted: Set<NodeID> = []
  var isExhausted = false
  var areKnown = false
  private(set) var counts = FarCounts()

  private static let mostMachines = 3
  private static let mostLosses = 10

  var isAnyInUse: Bool { nodes.values.contains(where: \.isInUse) }
  private var haveEnds: Bool { nodes.values.contains { $0.isInUse && $0.offer?.endsAt != nil } }

  /// True if the task may be kept from some nodes, so that a less urgent one may start first.
  func mayBeKeptBack(_ task: TaskID, _ plan: Plan) -> Bool {
    lostOn[task] != nil || haveEnds
  }

  // MARK: - Events

  mutating func expect(
    _ node: NodeID, _ identity: NodeIdentity, _ offer: NodeOffer?, at now: Instant
  ) {
    nodes[node] = Node(identity: identity, offer: offer, joinedAt: now)
  }

  mutating func expectEnd(_ end: Instant?, of node: NodeID) { nodes[node]?.offer?.endsAt = end }
  mutating func expectLeaving(of node: NodeID) { nodes[node]?.isExcused = true }
  mutating func expectSilence(of node: NodeID) { nodes[node]?.isSilenced = true }
  mutating func expectLoss(of node: NodeID) { nodes[node]?.isLost = true }

  // MARK: - Journal lines

  mutating func take(_ entry: NodeEntry, at now: Instant) throws(Finding) {
    guard var node = nodes[entry.node] else { throw fault(entry, "nobody knows it") }
    if entry.host != node.identity.host { throw fault(entry, "it is called \(entry.host)") }
    let others = nodes.contains {
      $0.value.isInUse && $0.value.identity.machine != node.identity.machine
    }
    switch (entry.state, node.state) {
    case (.joined, nil):
      if entry.cores != node.offer?.cpu ?? 0 || entry.incarnation != node.identity.incarnation {
        throw fault(entry, "another one joined")
      }
      // A node that joins before the first write gets its turn after it.
      node.joinedAt = now
      if quarantined.contains(node.identity.machine), !isAnyInUse {
        takeBack(node.identity.machine)
      }
    case (.leaving, .some) where node.isExcused && !node.isLost: break
    case (.leaving, .joined) where node.isNearEnd(at: now, mostGrace),
      (.leaving, .readmitted) where node.isNearEnd(at: now, mostGrace),
      (.leaving, .quarantined) where node.isNearEnd(at: now, mostGrace):
      node.isExcused = true
    case (.silent, .joined) where node.isSilenced && !node.isLost,
      (.silent, .quarantined) where node.isSilenced && !node.isLost,
      (.silent, .readmitted) where node.isSilenced && !node.isLost:
      break
    case (.lost, .some) where node.isLost: break
    case (.quarantined, .joined), (.quarantined, .readmitted):
      if entry.detail.contains("its workers cannot start") { break }
      if !others { throw fault(entry, "it is shunned, and the last one") }
      // It has just returned, or tasks were lost there again.
      if quarantined.contains(node.identity.machine) { break }
      guard suspects.contains(node.identity.machine) || isSuspect(node.identity.machine, at: now)
      else { throw fault(entry, "it is shunned, and was not lost twice within a minute") }
      quarantined.insert(node.identity.machine)
    case (.readmitted, .quarantined):
      let inUse = nodes.filter { $0.value.isInUse }.keys
      if !readmitted.isSuperset(of: inUse) {
        throw fault(entry, "it is readmitted beside others")
      }
      takeBack(node.identity.machine)
    default: throw fault(entry, "it was \(node.state?.rawValue ?? "not there")")
    }
    node.state = entry.state
    nodes[entry.node] = node
    counts.told[entry.state, default: 0] += 1
    if entry.state == .readmitted { readmitted.insert(entry.node) } else { readmitted = [] }
  }

  /// True if a task that is lost there now is lost within a minute of the last loss.
  private func isSuspect(_ machine: Int32, at now: Instant) -> Bool {
    guard let last = moments[machine] else { return false }
    return last < now && now <= last.advanced(byMilliseconds: 60_000)
  }

  private mutating func takeBack(_ machine: Int32) {
    quarantined.remove(machine)
    suspects.remove(machine)
    moments[machine] = nil
  }

  private func fault(_ entry: NodeEntry, _ text: String) -> Finding {
    Finding("site \(entry.node.rawValue) is \(entry.state): \(text)")
  }

  /// An attempt begins there, or is prefetched.
  mutating func begin(
    _ task: TaskID, at node: NodeID, _ now: Instant, _ plan: Plan
  ) throws(Finding) {
    let before = begunAt.updateValue(node, forKey: task)
    if node == .local { return }
    if plan.isService(task) {
      counts.services += 1
      if let before, before != node { counts.moves += 1 }
    } else if !plan.services(neededBy: task).isEmpty {
      counts.users += 1
    }
    let name = plan.nameString(task)
    guard let own = nodes[node], own.isInUse, !own.isLost else {
      throw Finding("\(name): it starts on site \(node.rawValue), which is not in use")
    }
    if quarantined.contains(own.identity.machine) {
      throw Finding("\(name): it starts on site \(node.rawValue), whose machine is shunned")
    }
    let timeout = Int64(plan.policy(task).timeoutMilliseconds)
    if timeout > 0, let end = own.offer?.endsAt,
      own.joinedAt.advanced(byMilliseconds: timeout) <= end,
      now.advanced(byMilliseconds: timeout) > end
    {
      throw Finding("\(name): it starts where less time is left than it may take")
    }
    // Tasks with services start next to them.
    if plan.isService(task) || !plan.services(neededBy: task).isEmpty { return }
    guard let lost = surelyLostOn[task], lost.contains(own.identity.machine) else { return }
    // A node without an end and with the most of all resources fits each task.
    let inUse = nodes.values.filter(\.isInUse)
    let gpus = UInt64(plan.gpuCount(of: task))
    let other = inUse.first { node in
      !lost.contains(node.identity.machine)
        && node.offer.map { $0.endsAt == nil && $0.gpus >= gpus } ?? false
        && inUse.allSatisfy {
          $0.offer.map {
            $0.cpu <= node.offer?.cpu ?? 0 && $0.memoryBytes <= node.offer?.memoryBytes ?? 0
          }
            ?? false
        }
    }
    if let other {
      throw Finding("\(name): it starts where it was lost, and \(other.identity.host) is there")
    }
  }

  /// Returns the node of a task's newest attempt.
  func node(of task: TaskID) -> NodeID { begunAt[task] ?? .local }

  /// `isClosed`: no further task starts there; `isLost`: the node is gone.
  func isClosed(at node: NodeID) -> Bool { nodes[node]?.isClosed ?? false }
  func isLost(_ node: NodeID) -> Bool { nodes[node]?.isLost ?? false }

  /// True if the attempt's node is leaving, which excuses its failure.
  func isExcused(_ task: TaskID) -> Bool {
    begunAt[task].flatMap { nodes[$0] }?.isExcused ?? false
  }

  /// Records the loss of an attempt on a node. Returns whether the task may fail now, and whether
  /// it must.
  mutating func lose(
    _ task: TaskID, isSure: Bool, at now: Instant
  ) -> (may: Bool, must: Bool) {
    guard let node = begunAt[task].flatMap({ nodes[$0] }), !node.isExcused else {
      return (false, false)
    }
    if isSuspect(node.identity.machine, at: now) { suspects.insert(node.identity.machine) }
    moments[node.identity.machine] = now
    lostOn[task, default: []].insert(node.identity.machine)
    lostCount[task, default: 0] += 1
    if isSure {
      surelyLostOn[task, default: []].insert(node.identity.machine)
      surelyLostCount[task, default: 0] += 1
    }
    return (
      Self.isTooOften(lostOn[task], lostCount[task]),
      isSure && Self.isTooOften(surelyLostOn[task], surelyLostCount[task])
    )
  }

  private static func isTooOften(_ machines: Set<Int32>?, _ count: Int?) -> Bool {
    (machines?.count ?? 0) >= mostMachines || (count ?? 0) >= mostLosses
  }

  mutating func forget(_ task: TaskID) {
    surelyLostOn[task] = nil
    surelyLostCount[task] = nil
    lostOn[task] = nil
    lostCount[task] = nil
  }

  /// Checks that a refused task wants more GPUs than any node has.
  func checkBeyond(_ count: Int, _ task: TaskID, _ plan: Plan) throws(Finding) {
    guard count > 0, isExhausted || areKnown, !nodes.isEmpty,
      nodes.values.allSatisfy({ ($0.offer?.gpus ?? 0) < UInt64(count) })
    else { throw Finding("\(plan.nameString(task)): it is refused, and was not tried") }
  }

  /// Checks a session's own stop.
  ///
  /// - Parameter gpus: the largest GPU demand of a pending task.
  func checkStop(wanting gpus: Int) throws(Finding) {
    if !isExhausted { throw Finding("it stops, and more machines may come") }
    let most = nodes.values.filter(\.isInUse).compactMap { $0.offer?.gpus }.max() ?? 0
    if isAnyInUse, !haveEnds, most >= UInt64(gpus) {
      throw Finding("it stops, and a machine is there that has time")
    }
  }
}
