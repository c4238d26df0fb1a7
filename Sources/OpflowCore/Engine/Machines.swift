/// The remote nodes: which may be given tasks, and which task may go where.
///
/// A *node* (`Site`) is one connection to a host, numbered as it joins. A *host* (`machine`) may
/// come back: after the loss of a node, the next one on its host is a new node.
///
///     joined ──┬─────────────────────▶ leaving ──▶ lost
///              ├──▶ shunned ─┬───────▶ leaving
///              │             └──▶ readmitted (as joined)
///              ├──▶ silent ─────────────────────▶ lost
///              └─────────────────────────────────▶ lost   (from each state)
///
/// Tasks start on nodes *in use* (joined or readmitted). On the others running tasks go on:
/// - *leaving*: preempted, or its time is nearly over and its tasks are stopped early enough to end
///   in time. Failures and losses there cost a task nothing.
/// - *shunned* (quarantined): its host lost workers with tasks twice within a minute while another
///   host was in use, or its workers do not come up. Without a node in use, the former are
///   readmitted.
/// - *silent*: the connection is lost, and its workers may go on. Their tasks are not given to
///   others before the node is lost.
/// - *lost*: the caller has made sure that nothing runs there. Its workers are lost with it.
///
/// Races:
/// - A node is lost while workers are being launched there: nothing was journaled, so their tasks
///   are ready again. A late hello is ignored.
/// - The losses of a worker and of its node arrive in any order: the first returns the task. At the
///   same instant they count as one loss.
/// - A node leaves while it has prefetched tasks: they are recalled. One that began meanwhile runs
///   on.
/// - A host comes back before its old node is lost: each node has its own workers. No task is on
///   both, since the old tasks come back only with the loss of their workers.
/// - The last node is lost while the session is suspended, paused or stopping: this stops nothing.
///   Waiting tasks go on later or are left to a resume.
/// - A node may join even after "no further node comes".
struct Machines {
  struct Site {
    let identity: SiteIdentity
    var state = SiteState.joined
    /// The resources; nil until its first worker reports them.
    var offer: SiteOffer?
    let joinedAt: Instant
    var isUseless = false
    /// Whether its time is over and its tasks were told to end.
    var isOver = false
    /// The reason why it is leaving or left; failures there are not the tasks' fault.
    var excuse: String?

    var isInUse: Bool { state.isInUse && !isUseless }
    var isThere: Bool { state != .lost }
  }

  /// The nodes by number - 1, without the local node.
  private(set) var sites: [Site] = []
  /// The last loss of workers with tasks, by host.
  private var lastLoss: [Int32: Instant] = [:]
  private var shunned: Set<Int32> = []
  /// The reason why no further node comes; nil while one may.
  var noneComing: String?
  /// Whether every requested node has joined or will not come.
  var areKnown = false
  /// Ready tasks that need more time than any node in use has left.
  private(set) var setAside: Set<TaskID> = []
  /// The hosts that lost a task, each once.
  private(set) var losses: [TaskID: [Int32]] = [:]
  private var limitedCount = 0
  /// The end of the local node's time; nil if not limited.
  private(set) var ownEnd: Instant?
  /// The time of the next check whether tasks must be stopped.
  private(set) var nextLook: Instant?
  /// The shortest grace of all tasks of remote nodes.
  var leastGrace: Int64

  init(leastGraceMilliseconds: Int64 = 0) { leastGrace = leastGraceMilliseconds }

  /// The time within which two losses quarantine a host.
  static let suspicionMilliseconds: Int64 = 60_000
  /// The number of hosts whose losses of a task make it fail.
  static let mostMachinesLost = 3
  /// The number of losses of a task, on any hosts, that make it fail.
  static let mostLosses: UInt8 = 10

  /// Whether some task must avoid some node.
  @inline(__always)
  var mayRestrict: Bool { limitedCount > 0 || !losses.isEmpty }

  @inline(__always)
  var haveEnds: Bool { limitedCount > 0 }

  /// Whether any node's time is limited, the local one's included.
  @inline(__always)
  var isAnyLimited: Bool { limitedCount > 0 || ownEnd != nil }

  subscript(site: SiteID) -> Site { sites[site.index - 1] }

  /// Returns why failures there are excused; nil if they are not.
  @inline(__always)
  func excuse(at site: SiteID) -> String? { site == .local ? nil : sites[site.index - 1].excuse }

  @inline(__always)
  func isInUse(_ site: SiteID) -> Bool { sites[site.index - 1].isInUse }

  var isAnyInUse: Bool { sites.contains(where: \.isInUse) }

  /// The nodes in use, in the order in which they joined.
  var inUse: [SiteID] { numbers.filter { self[$0].isInUse } }

  private var numbers: [SiteID] {
    sites.indices.map { SiteID(Int32(truncatingIfNeeded: $0 + 1)) }
  }

  /// The most GPUs of any node so far; nil if a node has not reported yet, or none joined.
  var mostDevices: UInt64? {
    sites.contains { $0.isThere && $0.offer == nil }
      ? nil : sites.compactMap { $0.offer?.gpus }.max()
  }

  // MARK: - Changes

  /// Adds a node; readmits its quarantined host if no other node is in use.
  mutating func join(_ identity: SiteIdentity, _ offer: SiteOffer?, at now: Instant) {
    if shunned.contains(identity.machine), !isAnyInUse {
      shunned.remove(identity.machine)
      lastLoss[identity.machine] = nil
    }
    sites.append(Site(identity: identity, offer: offer, joinedAt: now))
    countLimited()
    if offer?.endsAt != nil { look(by: now) }
  }

  mutating func setOffer(_ offer: SiteOffer, of site: SiteID) {
    change(site) { $0.offer = offer }
  }

  mutating func setEnd(_ end: Instant?, of site: SiteID) {
    if site == .local { ownEnd = end } else { change(site) { $0.offer?.endsAt = end } }
  }

  /// Nodes whose tasks must end before the node's time does.
  var working: [SiteID] {
    numbers.filter { [.joined, .readmitted, .shunned].contains(self[$0].state) }
  }

  mutating func noteOver(_ site: SiteID) { change(site) { $0.isOver = true } }

  /// - Returns: whether it was not leaving before.
  mutating func leave(_ site: SiteID, _ complaint: String) -> Bool {
    guard self[site].isThere, self[site].excuse == nil else { return false }
    change(site) {
      $0.state = .leaving
      $0.excuse = complaint
    }
    return true
  }

  /// - Returns: false if it is leaving or lost.
  mutating func silence(_ site: SiteID) -> Bool {
    guard self[site].isThere, self[site].state != .leaving else { return false }
    change(site) { $0.state = .silent }
    return true
  }

  mutating func lose(_ site: SiteID) { change(site) { $0.state = .lost } }

  mutating func giveUp(_ site: SiteID) {
    change(site) {
      if $0.isInUse { $0.state = .shunned }
      $0.isUseless = true
    }
  }

  /// - Returns: whether the host must be quarantined.
  mutating func noteLoss(at site: SiteID, _ now: Instant) -> Bool {
    if self[site].excuse != nil { return false }
    let machine = self[site].identity.machine
    let last = lastLoss.updateValue(now, forKey: machine)
    guard let last, last < now, !shunned.contains(machine),
      now <= last.advanced(byMilliseconds: Self.suspicionMilliseconds)
    else { return false }
    return sites.contains { $0.isInUse && $0.identity.machine != machine }
  }

  /// Quarantines a host and returns its nodes that were in use.
  mutating func shun(_ machine: Int32) -> [SiteID] {
    shunned.insert(machine)
    let own = inUse.filter { self[$0].identity.machine == machine }
    for site in own { change(site) { $0.state = .shunned } }
    return own
  }

  func isShunned(_ site: SiteID) -> Bool { shunned.contains(self[site].identity.machine) }

  /// Readmits quarantined hosts if nothing else is in use, and returns their nodes.
  mutating func readmit() -> [SiteID] {
    if shunned.isEmpty || isAnyInUse { return [] }
    let back = numbers.filter { self[$0].state == .shunned && !self[$0].isUseless }
    for site in back {
      let machine = self[site].identity.machine
      shunned.remove(machine)
      lastLoss[machine] = nil
      change(site) { $0.state = .readmitted }
    }
    return back
  }

  private mutating func change(_ site: SiteID, _ body: (inout Site) -> Void) {
    body(&sites[site.index - 1])
    countLimited()
  }

  private mutating func countLimited() {
    limitedCount = sites.count { $0.isInUse && $0.offer?.endsAt != nil }
  }

  // MARK: - Ends

  mutating func look(by moment: Instant) { nextLook = nextLook.map { min($0, moment) } ?? moment }

  mutating func takeLook(at now: Instant) -> Bool {
    guard let nextLook, nextLook <= now else { return false }
    self.nextLook = nil
    return true
  }

  /// Returns the latest moment to stop a task with this grace so that it ends in time; nil: no
  /// limit.
  func lastMoment(at site: SiteID, graceMilliseconds: Int64) -> Instant? {
    if site == .local { return ownEnd?.advanced(byMilliseconds: -graceMilliseconds) }
    guard let end = self[site].offer?.endsAt else { return nil }
    // If the node has little time, its tasks would otherwise be stopped as soon as they begin.
    let half = max(0, (end.nanoseconds - self[site].joinedAt.nanoseconds) / 2)
    return Instant(nanoseconds: end.nanoseconds - min(graceMilliseconds * 1_000_000, half))
  }

  // MARK: - Tasks

  /// - Returns: whether the task was lost on too many hosts.
  mutating func noteLoss(of task: TaskID, at site: SiteID) -> Bool {
    let machine = self[site].identity.machine
    if losses[task]?.contains(machine) != true { losses[task, default: []].append(machine) }
    return (losses[task]?.count ?? 0) >= Self.mostMachinesLost
  }

  mutating func forgetLosses(of task: TaskID) {
    if !losses.isEmpty { losses[task] = nil }
  }

  func hasTime(for need: TimeNeed?, at site: SiteID, _ now: Instant) -> Bool {
    guard let need, let end = self[site].offer?.endsAt else { return true }
    if let last = lastMoment(at: site, graceMilliseconds: need.graceMilliseconds), last <= now {
      return false
    }
    switch need.duration {
    case nil: return true
    case .took(let microseconds): return now.advanced(byMicroseconds: microseconds) <= end
    case .mayTake(let microseconds):
      // A timeout longer than any node's whole time is a limit, and no estimate of the duration.
      let isWithinAll = self[site].joinedAt.advanced(byMicroseconds: microseconds) <= end
      return !isWithinAll || now.advanced(byMicroseconds: microseconds) <= end
    }
  }

  struct TimeNeed {
    enum Duration {
      case took(microseconds: Int64)
      /// Its `timeout`.
      case mayTake(microseconds: Int64)
    }

    var duration: Duration?
    /// The grace that it gets when it is stopped.
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
    if limitedCount != sites.count(where: { $0.isInUse && $0.offer?.endsAt != nil }) {
      return "machines with an end are miscounted"
    }
    for site in sites where site.isInUse && shunned.contains(site.identity.machine) {
      return "a machine is shunned and in use"
    }
    if !isAnyInUse, sites.contains(where: { $0.state == .shunned && !$0.isUseless }) {
      return "no machine is in use, and one that is shunned is there"
    }
    return nil
  }
}
