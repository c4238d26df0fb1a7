/// The machines beyond the coordinator's: which of them may be given tasks, and which tasks may go where.
///
/// A *site* is a stream to a machine, numbered as it joins. A *machine* is what may be reached again: after a
/// site was lost, the next one on its machine is another site.
///
///     joined ──┬─────────────────────▶ leaving ──▶ lost
///              ├──▶ shunned ─┬───────▶ leaving
///              │             └──▶ readmitted (as joined)
///              ├──▶ silent ─────────────────────▶ lost
///              └─────────────────────────────────▶ lost   (from each state)
///
/// New tasks start on sites that are *in use* (joined or readmitted). What runs elsewhere runs on:
/// - *leaving*: preempted, and its agent ends what it has; or its time is nearly over, and what runs there is stopped
///   by its own rules early enough to end in time. What ends badly there from then on, or is lost, was ended by
///   that: it costs the task nothing.
/// - *shunned*: its machine lost workers with tasks at two moments within a minute while another machine was in
///   use, or its workers do not come up. Where no site is left in use, those of the first kind are readmitted.
/// - *silent*: its stream is lost, and nobody knows what its workers do. What they have is given to no other
///   before the site is lost.
/// - *lost*: the host has seen to it that nothing of it runs any more. Its workers are lost with it.
///
/// Races, and what holds in each:
/// - A site is lost while workers are on their way there: nothing of theirs was journaled, so that their tasks go
///   back as they are, and a hello that comes late is of a worker that is gone.
/// - A worker's end and its site's are told in any order: the first one gives its task back, the other finds
///   nothing. Both at the same moment are one moment of loss.
/// - A site leaves while tasks are handed ahead there: they are asked back. One that began meanwhile runs on and
///   counts as what ran there.
/// - A machine comes back while its old site is not lost yet: both are there, each with its own workers, and no
///   task is with both, since the old one's come back only with their workers' loss.
/// - The last site is lost while the drive is suspended, paused or on its way to its end: nothing is stopped for
///   that; what waits has its turn when the drive goes on, or is left to the resume.
/// - That no further machine comes may be told at any time, and another one may join after that all the same.
struct Machines {
  struct Site {
    let identity: SiteIdentity
    var state = SiteState.joined
    /// Nil while its first worker is still to tell.
    var offer: SiteOffer?
    let joinedAt: Instant
    /// Its workers do not come up.
    var isUseless = false
    /// Its time is over, and what ran there was told to end.
    var isOver = false
    /// Why it leaves, or left before it was lost: nobody is to blame for what ends badly there.
    var excuse: String?

    var isInUse: Bool { state.isInUse && !isUseless }
    var isThere: Bool { state != .lost }
  }

  /// By number; that of the coordinator's machine is none of these and always in use.
  private(set) var sites: [Site] = []
  /// By machine: when workers with tasks were lost there last.
  private var lastLoss: [Int32: Instant] = [:]
  private var shunned: Set<Int32> = []
  /// Why no further machine comes; nil while one may.
  var noneComing: String?
  /// All that were asked for have been there, or do not come.
  var areKnown = false
  /// Ready tasks that take longer than any machine in use has left: they wait for another one.
  private(set) var setAside: Set<TaskID> = []
  /// By task: the machines on which it was lost, each once.
  private(set) var losses: [TaskID: [Int32]] = [:]
  /// How many sites in use have an end.
  private var limitedCount = 0
  /// When the time of the coordinator's own machine is over; nil where that is not limited.
  private(set) var ownEnd: Instant?
  /// When it is to be looked next whether tasks are to be stopped, so that they end before their machines' time does.
  private(set) var nextLook: Instant?
  /// What any task of other machines is given to end by its stop rule, at least.
  var leastGrace: Int64

  /// - Parameter leastGraceMilliseconds: of the tasks of other machines.
  init(leastGraceMilliseconds: Int64 = 0) { leastGrace = leastGraceMilliseconds }

  /// From one loss on a machine to the next one for which it is shunned.
  static let suspicionMilliseconds: Int64 = 60_000
  /// Losses on different machines after which it is the task that is the matter.
  static let mostMachinesLost = 3
  /// Losses on whichever machines, after which it is as well.
  static let mostLosses: UInt8 = 10

  /// Whether a task may be kept from some site, so that it is to be asked for each.
  @inline(__always)
  var mayRestrict: Bool { limitedCount > 0 || !losses.isEmpty }

  @inline(__always)
  var haveEnds: Bool { limitedCount > 0 }

  /// Whether the time of any machine is limited, the coordinator's own included.
  @inline(__always)
  var isAnyLimited: Bool { limitedCount > 0 || ownEnd != nil }

  subscript(site: SiteID) -> Site { sites[site.index - 1] }

  /// Why what ends badly there is to be excused; nil where it is not.
  @inline(__always)
  func excuse(at site: SiteID) -> String? { site == .local ? nil : sites[site.index - 1].excuse }

  @inline(__always)
  func isInUse(_ site: SiteID) -> Bool { sites[site.index - 1].isInUse }

  /// Whether any site is in use.
  var isAnyInUse: Bool { sites.contains(where: \.isInUse) }

  /// In use, in the order in which they joined.
  var inUse: [SiteID] { numbers.filter { self[$0].isInUse } }

  private var numbers: [SiteID] {
    sites.indices.map { SiteID(Int32(truncatingIfNeeded: $0 + 1)) }
  }

  /// How many GPUs a machine of the drive had at most; nil where one is still to tell, or none was there.
  var mostDevices: UInt64? {
    sites.contains { $0.isThere && $0.offer == nil }
      ? nil : sites.compactMap { $0.offer?.gpus }.max()
  }

  // MARK: - Changes

  /// A machine on which nothing more starts is used all the same where no other one is.
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

  /// Its time is over then; nil: it is not limited.
  mutating func setEnd(_ end: Instant?, of site: SiteID) {
    if site == .local { ownEnd = end } else { change(site) { $0.offer?.endsAt = end } }
  }

  /// Where what runs is to end before the time does.
  var working: [SiteID] {
    numbers.filter { [.joined, .readmitted, .shunned].contains(self[$0].state) }
  }

  mutating func noteOver(_ site: SiteID) { change(site) { $0.isOver = true } }

  /// - Returns: whether it was not so before.
  mutating func leave(_ site: SiteID, _ complaint: String) -> Bool {
    guard self[site].isThere, self[site].excuse == nil else { return false }
    change(site) {
      $0.state = .leaving
      $0.excuse = complaint
    }
    return true
  }

  /// - Returns: whether anything started there before.
  mutating func silence(_ site: SiteID) -> Bool {
    guard self[site].isThere, self[site].state != .leaving else { return false }
    change(site) { $0.state = .silent }
    return true
  }

  mutating func lose(_ site: SiteID) { change(site) { $0.state = .lost } }

  /// Its workers do not come up.
  mutating func giveUp(_ site: SiteID) {
    change(site) {
      if $0.isInUse { $0.state = .shunned }
      $0.isUseless = true
    }
  }

  /// Workers with tasks were lost there.
  ///
  /// - Returns: whether nothing more is to start on its machine.
  mutating func noteLoss(at site: SiteID, _ now: Instant) -> Bool {
    if self[site].excuse != nil { return false }
    let machine = self[site].identity.machine
    let last = lastLoss.updateValue(now, forKey: machine)
    guard let last, last < now, !shunned.contains(machine),
      now <= last.advanced(byMilliseconds: Self.suspicionMilliseconds)
    else { return false }
    return sites.contains { $0.isInUse && $0.identity.machine != machine }
  }

  /// Nothing more starts on a machine.
  ///
  /// - Returns: its sites that were in use.
  mutating func shun(_ machine: Int32) -> [SiteID] {
    shunned.insert(machine)
    let own = inUse.filter { self[$0].identity.machine == machine }
    for site in own { change(site) { $0.state = .shunned } }
    return own
  }

  /// Whether a site that just joined is of a machine on which nothing more starts.
  func isShunned(_ site: SiteID) -> Bool { shunned.contains(self[site].identity.machine) }

  /// Takes shunned machines back where nothing else is in use.
  ///
  /// - Returns: their sites, which are in use from now on.
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

  /// - Returns: whether it is time to look.
  mutating func takeLook(at now: Instant) -> Bool {
    guard let nextLook, nextLook <= now else { return false }
    self.nextLook = nil
    return true
  }

  /// When a task that is given so long to end is to be told to, so that it ends in time; nil: never.
  func lastMoment(at site: SiteID, graceMilliseconds: Int64) -> Instant? {
    if site == .local { return ownEnd?.advanced(byMilliseconds: -graceMilliseconds) }
    guard let end = self[site].offer?.endsAt else { return nil }
    // Where there is little time it would be told as soon as it begins.
    let half = max(0, (end.nanoseconds - self[site].joinedAt.nanoseconds) / 2)
    return Instant(nanoseconds: end.nanoseconds - min(graceMilliseconds * 1_000_000, half))
  }

  // MARK: - Tasks

  /// A task was lost with its worker.
  ///
  /// - Returns: whether that was on as many machines as a task is lost on at most.
  mutating func noteLoss(of task: TaskID, at site: SiteID) -> Bool {
    let machine = self[site].identity.machine
    if losses[task]?.contains(machine) != true { losses[task, default: []].append(machine) }
    return (losses[task]?.count ?? 0) >= Self.mostMachinesLost
  }

  /// It is tried anew, as if it never had been.
  mutating func forgetLosses(of task: TaskID) {
    if !losses.isEmpty { losses[task] = nil }
  }

  /// Whether a task that takes so long still ends in time there; nil: that is not to be asked.
  func hasTime(for need: TimeNeed?, at site: SiteID, _ now: Instant) -> Bool {
    guard let need, let end = self[site].offer?.endsAt else { return true }
    if let last = lastMoment(at: site, graceMilliseconds: need.graceMilliseconds), last <= now {
      return false
    }
    switch need.duration {
    case nil: return true
    case .took(let microseconds): return now.advanced(byMicroseconds: microseconds) <= end
    case .mayTake(let microseconds):
      // What no machine of that kind has time for at all is a limit, and says nothing of how long it takes.
      let isWithinAll = self[site].joinedAt.advanced(byMicroseconds: microseconds) <= end
      return !isWithinAll || now.advanced(byMicroseconds: microseconds) <= end
    }
  }

  /// What is known of how long a task takes.
  struct TimeNeed {
    enum Duration {
      /// In an earlier run.
      case took(microseconds: Int64)
      /// Its `timeout`.
      case mayTake(microseconds: Int64)
    }

    var duration: Duration?
    /// What it is given to end when it is stopped.
    var graceMilliseconds: Int64
  }

  mutating func setAside(_ task: TaskID) { setAside.insert(task) }

  mutating func takeBack(_ task: TaskID) { setAside.remove(task) }

  /// Takes all back that was set aside, in the order of the plan.
  mutating func takeSetAside() -> [TaskID] {
    defer { setAside.removeAll() }
    return setAside.sorted { $0.rawValue < $1.rawValue }
  }

  // MARK: - Checks

  /// What is wrong with it; nil when nothing is.
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
