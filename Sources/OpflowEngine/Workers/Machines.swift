internal import OpflowJournal
internal import OpflowPlan

/// The remote nodes: which may get tasks, and which task may go where. A *node* (`Node`) is one
/// connection to a host (`machine`), which may come back as a new node.
///
///     joined ──┬─────────────────────▶ leaving ──▶ lost
///              ├──▶ quarantined ─┬───▶ leaving
///              │                 └──▶ readmitted (as joined)
///              ├──▶ silent ─────────────────────▶ lost
///              └─────────────────────────────────▶ lost   (from each state)
///
/// Tasks start on nodes *in use* (joined or readmitted). On the others running tasks continue:
/// - *leaving*: preempted, or its time is nearly over and its tasks are stopped in time. Failures
///   and losses there cost a task nothing.
/// - *quarantined*: its host lost workers with tasks twice within a minute while another one was in
///   use, or its workers do not come up. The former are readmitted if no node is in use.
/// - *silent*: the connection is lost. Its workers may continue, and keep their tasks.
/// - *lost*: the caller has made sure that nothing runs there. Its workers are lost with it.
///
/// Races:
/// - A node is lost while workers are launched there: nothing was journaled, so their tasks are
///   ready again. A late hello is ignored.
/// - The first loss of a worker or of its node returns the task. At the same instant they are one
///   loss.
/// - A node leaves while it has prefetched tasks: they are recalled. One that began meanwhile keeps
///   running.
/// - A host comes back before its old node is lost: tasks of the old node come back only with the
///   loss of their workers.
/// - The last node is lost while the session is suspended, paused or stopping: waiting tasks
///   continue later or are left to a resume.
/// - A node may join even after "no further node comes".
struct Machines {
  struct Node {
    let identity: NodeIdentity
    var state = NodeState.joined
    /// Nil until the first worker reports the resources.
    var offer: NodeOffer?
    let joinedAt: Instant
    var isUseless = false
    /// Its tasks were told to end.
    var isOver = false
    /// Failures there are not the tasks' fault.
    var excuse: String?

    var isInUse: Bool { state.isInUse && !isUseless }
    var isThere: Bool { state != .lost }
  }

  /// By number - 1.
  private(set) var nodes: [Node] = []
  private var lastLoss: [Int32: Instant] = [:]
  private var quarantined: Set<Int32> = []
  /// Nil while a node may come.
  var noneComing: String?
  /// Every requested node has joined or will not come.
  var areKnown = false
  /// Ready tasks that need more time than any node in use has left.
  private(set) var setAside: Set<TaskID> = []
  /// The hosts that lost a task, each once.
  private(set) var losses: [TaskID: [Int32]] = [:]
  private var limitedCount = 0
  /// Nil if the local node's time is not limited.
  private(set) var ownEnd: Instant?
  private(set) var nextLook: Instant?
  var leastGrace: Int64

  init(leastGraceMilliseconds: Int64 = 0) { leastGrace = leastGraceMilliseconds }

  /// Two losses within this time quarantine a host.
  static let suspicionMilliseconds: Int64 = 60_000
  /// A task lost on so many hosts fails.
  static let mostMachinesLost = 3
  /// A task lost this often, on any hosts, fails.
  static let mostLosses: UInt8 = 10

  @inline(__always)
  var mayRestrict: Bool { limitedCount > 0 || !losses.isEmpty }

  @inline(__always)
  var haveEnds: Bool { limitedCount > 0 }

  /// Includes the local node.
  @inline(__always)
  var isAnyLimited: Bool { limitedCount > 0 || ownEnd != nil }

  subscript(node: NodeID) -> Node { nodes[node.index - 1] }

  @inline(__always)
  func excuse(at node: NodeID) -> String? { node == .local ? nil : nodes[node.index - 1].excuse }

  @inline(__always)
  func isInUse(_ node: NodeID) -> Bool { nodes[node.index - 1].isInUse }

  var isAnyInUse: Bool { nodes.contains(where: \.isInUse) }

  var inUse: [NodeID] { numbers.filter { self[$0].isInUse } }

  private var numbers: [NodeID] {
    nodes.indices.map { NodeID(Int32(truncatingIfNeeded: $0 + 1)) }
  }

  /// Nil if one has not reported yet, or none joined.
  var mostDevices: UInt64? {
    nodes.contains { $0.isThere && $0.offer == nil }
      ? nil : nodes.compactMap { $0.offer?.gpus }.max()
  }

  // MARK: - Changes

  /// Readmits a quarantined host if no other node is in use.
  mutating func join(_ identity: NodeIdentity, _ offer: NodeOffer?, at now: Instant) {
    if quarantined.contains(identity.machine), !isAnyInUse {
      quarantined.remove(identity.machine)
      lastLoss[identity.machine] = nil
    }
    nodes.append(Node(identity: identity, offer: offer, joinedAt: now))
    countLimited()
    if offer?.endsAt != nil { look(by: now) }
  }

  mutating func setOffer(_ offer: NodeOffer, of node: NodeID) {
    change(node) { $0.offer = offer }
  }

  mutating func setEnd(_ end: Instant?, of node: NodeID) {
    if node == .local { ownEnd = end } else { change(node) { $0.offer?.endsAt = end } }
  }

  var working: [NodeID] {
    numbers.filter { [.joined, .readmitted, .quarantined].contains(self[$0].state) }
  }

  mutating func noteOver(_ node: NodeID) { change(node) { $0.isOver = true } }

  mutating func leave(_ node: NodeID, _ complaint: String) -> Bool {
    guard self[node].isThere, self[node].excuse == nil else { return false }
    change(node) {
      $0.state = .leaving
      $0.excuse = complaint
    }
    return true
  }

  /// Returns false if the node is leaving or lost.
  mutating func silence(_ node: NodeID) -> Bool {
    guard self[node].isThere, self[node].state != .leaving else { return false }
    change(node) { $0.state = .silent }
    return true
  }

  mutating func lose(_ node: NodeID) { change(node) { $0.state = .lost } }

  mutating func giveUp(_ node: NodeID) {
    change(node) {
      if $0.isInUse { $0.state = .quarantined }
      $0.isUseless = true
    }
  }

  /// Returns true if the host must be quarantined.
  mutating func noteLoss(at node: NodeID, _ now: Instant) -> Bool {
    if self[node].excuse != nil { return false }
    let machine = self[node].identity.machine
    let last = lastLoss.updateValue(now, forKey: machine)
    guard let last, last < now, !quarantined.contains(machine),
      now <= last.advanced(byMilliseconds: Self.suspicionMilliseconds)
    else { return false }
    return nodes.contains { $0.isInUse && $0.identity.machine != machine }
  }

  mutating func shun(_ machine: Int32) -> [NodeID] {
    quarantined.insert(machine)
    let own = inUse.filter { self[$0].identity.machine == machine }
    for node in own { change(node) { $0.state = .quarantined } }
    return own
  }

  func isQuarantined(_ node: NodeID) -> Bool { quarantined.contains(self[node].identity.machine) }

  /// Readmits hosts only if nothing else is in use; returns their nodes.
  mutating func readmit() -> [NodeID] {
    if quarantined.isEmpty || isAnyInUse { return [] }
    let back = numbers.filter { self[$0].state == .quarantined && !self[$0].isUseless }
    for node in back {
      let machine = self[node].identity.machine
      quarantined.remove(machine)
      lastLoss[machine] = nil
      change(node) { $0.state = .readmitted }
    }
    return back
  }

  private mutating func change(_ node: NodeID, _ body: (inout Node) -> Void) {
    body(&nodes[node.index - 1])
    countLimited()
  }

  private mutating func countLimited() {
    limitedCount = nodes.count { $0.isInUse && $0.offer?.endsAt != nil }
  }

  // MARK: - Ends

  mutating func look(by moment: Instant) { nextLook = nextLook.map { min($0, moment) } ?? moment }

  mutating func takeLook(at now: Instant) -> Bool {
    guard let nextLook, nextLook <= now else { return false }
    self.nextLook = nil
    return true
  }

  /// The latest moment at which a stop leaves the grace; nil for no limit.
  func lastMoment(at node: NodeID, graceMilliseconds: Int64) -> Instant? {
    if node == .local { return ownEnd?.advanced(byMilliseconds: -graceMilliseconds) }
    guard let end = self[node].offer?.endsAt else { return nil }
    // At most half of the node's time, so that tasks are not stopped as soon as they begin.
    let half = max(0, (end.nanoseconds - self[node].joinedAt.nanoseconds) / 2)
    return Instant(nanoseconds: end.nanoseconds - min(graceMilliseconds * 1_000_000, half))
  }

  // MARK: - Tasks

  /// Returns true if too many hosts lost the task.
  mutating func noteLoss(of task: TaskID, at node: NodeID) -> Bool {
    let machine = self[node].identity.machine
    if losses[task]?.contains(machine) != true { losses[task, default: []].append(machine) }
    return (losses[task]?.count ?? 0) >= Self.mostMachinesLost
  }

  mutating func forgetLosses(of task: TaskID) {
    if !losses.isEmpty { losses[task] = nil }
  }

  func hasTime(for need: TimeNeed?, at node: NodeID, _ now: Instant) -> Bool {
    guard let need, let end = self[node].offer?.endsAt else { return true }
    if let last = lastMoment(at: node, graceMilliseconds: need.graceMilliseconds), last <= now {
      return false
    }
    switch need.duration {
    case nil: return true
    case .took(let microseconds): return now.advanced(byMicroseconds: microseconds) <= end
    case .mayTake(let microseconds):
      // A timeout longer than any node's whole time says nothing about the duration.
      let isWithinAll = self[node].joinedAt.advanced(byMicroseconds: microseconds) <= end
      return !isWithinAll || now.advanced(byMicroseconds: microseconds) <= end
    }
  }

  struct TimeNeed {
    enum Duration {
      case took(microseconds: Int64)
      case mayTake(microseconds: Int64)
    }

    var duration: Duration?
    var graceMilliseconds: Int64
  }

  mutating func setAside(_ task: TaskID) { setAside.insert(task) }

  mutating func takeBack(_ task: TaskID) { setAside.remove(task) }

  mutating func takeSetAside() -> [TaskID] {
    defer { setAside.removeAll() }
    return setAside.sorted { $0.rawValue < $1.rawValue }
  }

  // MARK: - Checks

  func checkInvariants() -> String? {
    if limitedCount != nodes.count(where: { $0.isInUse && $0.offer?.endsAt != nil }) {
      return "nodes with a time limit are miscounted"
    }
    for node in nodes where node.isInUse && quarantined.contains(node.identity.machine) {
      return "a node is quarantined and in use"
    }
    if !isAnyInUse, nodes.contains(where: { $0.state == .quarantined && !$0.isUseless }) {
      return "no node is in use, but a quarantined one exists"
    }
    return nil
  }
}
