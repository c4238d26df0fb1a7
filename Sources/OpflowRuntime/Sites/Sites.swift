internal import OpflowCore
internal import OpflowManifest
internal import OpflowSystem

/// The machines of a drive beside the coordinator's own, and how far each of them is.
///
/// States of a place, which is where one transport leads
/// ------------------------------------------------------
///
///     waiting ──> connecting ──> joined ──> lost ──> waiting
///        ^            │                                 │
///        └────────────┴──────────> given up <───────────┘
///
/// - *connecting* until the agent's hello, for so long at most.
/// - *joined*: a site, which tasks are given to.
/// - *lost*: the stream is over, and the agent may still be there. Nothing is given to the site, and what its
///   workers had is theirs until the lease has run out for certain; where Slurm has the agent, it is told to
///   kill it, and that is waited for too. Then the site is lost to the engine, and its tasks go elsewhere.
/// - A place that joined and was lost is tried again, as a new site on the same machine, so many times.
final class Sites {
  struct Place {
    let plan: TransportPlan
    /// Of which it is a node.
    var allocation: Int?
    var state: State
    /// Attempts in a row that came to nothing.
    var failures = 0
    /// How often it was lost.
    var losses = 0
    /// What the last of the failures was.
    var complaint = ""
    /// What is waited for so that it joins, in words; nil for nothing, and while the answer may come at any moment.
    var awaited: String?
  }

  enum State {
    case waiting(until: Instant)
    case connecting(RelayLauncher, by: Instant)
    case joined(RelayLauncher, SiteID)
    case lost(RelayLauncher, SiteID, until: Instant, complaint: String)
    case givenUp(String)
  }

  let settings: SiteSettings
  let complaints: ComplaintFile
  var places: [Place]
  /// In the order of the settings.
  var allocations: [SiteAllocation] = []
  /// By host: its number, from 1.
  private var machines: [String: Int32] = [:]
  /// It was told that none is left.
  var isExhausted = false
  /// It was told that what they have is known.
  var isTold = false

  static let connectMilliseconds: Int64 = 60_000
  /// From then on people are told that an answer is waited for.
  static let promptMilliseconds: Int64 = 1_000
  static let mostFailures = 3
  static let mostLosses = 8
  private static let firstDelayMilliseconds: Int64 = 500

  init(_ settings: SiteSettings, at now: Instant) throws(Errno) {
    self.settings = settings
    complaints = try ComplaintFile(settings.complaints)
    places = settings.plans.map { Place(plan: $0, state: .waiting(until: now)) }
  }

  /// The same for all sites that are on one machine.
  func machine(of host: String) -> Int32 {
    if let known = machines[host] { return known }
    let number = Int32(truncatingIfNeeded: machines.count + 1)
    machines[host] = number
    return number
  }

  func index(of launcher: RelayLauncher) -> Int? {
    places.firstIndex { $0.launcher === launcher }
  }

  /// A place came to nothing, before or after it was one.
  ///
  /// - Returns: why it is given up, for people, where nobody was told of that; nil where it is tried again.
  func retry(_ index: Int, complaint: String, at now: Instant) -> String? {
    let place = places[index]
    if let allocation = place.allocation, allocations[allocation].isOver {
      places[index].state = .givenUp(allocations[allocation].complaint)
      return nil
    }
    if place.launcher?.isDismissed == true {
      places[index].state = .givenUp(Self.overText)
      return nil
    }
    guard place.failures < Self.mostFailures, place.losses < Self.mostLosses else {
      let why =
        place.failures < Self.mostFailures
        ? "\(place.plan.name) is not used any more, since it was lost \(place.losses) times: \(complaint)"
        : "\(place.plan.name) could not be reached, tried \(place.failures) times: \(complaint)"
      places[index].state = .givenUp(why)
      return why
    }
    let doublings = place.failures
    let delay = doublings == 0 ? 0 : Self.firstDelayMilliseconds << Int64(doublings)
    places[index].state = .waiting(until: now.advanced(byMilliseconds: delay))
    return nil
  }

  static let overText = "the time of the allocation is over"

  /// There is no such allocation, or its time is over: nothing more is started there.
  ///
  /// - Returns: what joined of it.
  func close(_ index: Int, complaint: String) -> [(RelayLauncher, SiteID)] {
    allocations[index].isOver = true
    allocations[index].complaint = complaint
    var joined: [(RelayLauncher, SiteID)] = []
    for place in places.indices where places[place].allocation == index {
      switch places[place].state {
      case .waiting: places[place].state = .givenUp(complaint)
      case .joined(let launcher, let site): joined.append((launcher, site))
      case .connecting, .lost, .givenUp: break
      }
    }
    return joined
  }

  /// When the lease is over for certain of the agent that was heard last at that time: it counts from its own word.
  func end(ofLeaseHeardAt heard: Instant) -> Instant {
    heard.advanced(byMilliseconds: settings.leaseMilliseconds)
  }

  /// When all its workers are gone for certain too.
  func end(ofWorkersHeardAt heard: Instant) -> Instant {
    end(ofLeaseHeardAt: heard).advanced(byMilliseconds: settings.slackMilliseconds)
  }

  /// The drive is over: what was asked for is given back.
  func giveBack() {
    for allocation in allocations { allocation.allocation?.release() }
    for allocation in allocations {
      allocation.allocation?.waitUntilGone(nanoseconds: Self.releaseNanoseconds)
    }
    complaints.cleanUp()
  }

  private static let releaseNanoseconds: Int64 = 5_000_000_000

  /// A machine of an allocation that is there.
  func add(_ plan: TransportPlan, of allocation: Int, at now: Instant) {
    places.append(Place(plan: plan, allocation: allocation, state: .waiting(until: now)))
  }

  /// From when on people are told that an answer is waited for, which has to come by then.
  static func awaited(from by: Instant) -> Instant {
    by.advanced(byMilliseconds: promptMilliseconds - connectMilliseconds)
  }

  /// Of each place that did not join: why, for people. Of those that may answer at any moment nothing is known.
  var absentees: [String] {
    places.compactMap { place in
      switch place.state {
      case .waiting, .connecting:
        if place.losses > 0 || place.complaint.isEmpty && place.awaited == nil { return nil }
        let why = place.complaint.isEmpty ? "it had not answered by the end" : place.complaint
        return "\(place.plan.name) did not join the run: \(why)"
      case .joined, .lost, .givenUp: return nil
      }
    }
  }

  /// When there is something to do, if nothing happens before.
  var nextWake: Instant? {
    let ends = allocations.compactMap(\.leavesAt)
    return ([placesNextWake] + ends).compactMap { $0 }.min()
  }

  private var placesNextWake: Instant? {
    places.compactMap { place -> Instant? in
      switch place.state {
      case .waiting(let until): until
      case .connecting(_, let by): place.awaited == nil ? Self.awaited(from: by) : by
      case .joined(let launcher, _): end(ofLeaseHeardAt: launcher.heardAt)
      case .lost(let launcher, _, let until, _): max(until, launcher.killerDeadline ?? until)
      case .givenUp: nil
      }
    }.min()
  }

  /// Whether every site that was asked for has been there, or does not come.
  var areKnown: Bool {
    allocations.allSatisfy { $0.isGranted || $0.isOver }
      && places.allSatisfy {
        switch $0.state {
        case .joined, .lost, .givenUp: true
        case .waiting, .connecting: $0.losses > 0
        }
      }
  }

  /// Whether no site is there, and none is on its way.
  var areExhausted: Bool {
    allocations.allSatisfy { $0.isGranted || $0.isOver }
      && places.allSatisfy {
        if case .givenUp = $0.state { true } else { false }
      }
  }

  /// Why there is none: of each allocation and place that there is none of, as far as a line has room for that.
  var complaint: String {
    var all = allocations.map(\.complaint).filter { !$0.isEmpty }
    for case .givenUp(let complaint) in places.map(\.state) where !all.contains(complaint) {
      all.append(complaint)
    }
    if all.isEmpty { return "no other machine was named" }
    let more = all.count - Self.mostComplaints
    return all.prefix(Self.mostComplaints).joined(separator: "; ")
      + (more > 0 ? "; and \(more) more" : "")
  }

  private static let mostComplaints = 3
}

extension Sites.Place {
  var launcher: RelayLauncher? {
    switch state {
    case .connecting(let launcher, _), .joined(let launcher, _), .lost(let launcher, _, _, _):
      launcher
    case .waiting, .givenUp: nil
    }
  }
}

/// What a drive is to reach other machines with.
struct SiteSettings {
  var plans: [TransportPlan]
  /// Those of Slurm that are wanted.
  var allocations: [SlurmAllocation.Want]
  /// This one, which lies in the same place on all machines of one file system.
  let program: String
  var opening: AgentOpening
  var variables: [String]
  var arguments: TaskArguments?
  /// Where transports and agents complain.
  var complaints: String
  var leaseMilliseconds: Int64 { opening.leaseMilliseconds }

  /// - Parameters:
  ///   - folder: of the run, which all machines are to see.
  ///   - queueMilliseconds: how long an allocation is waited for; nil for ever.
  init(
    _ requests: [SiteRequest], folder: RunFolder, planKey: String, variables: [String],
    arguments: TaskArguments?, queueMilliseconds: Int64?
  ) {
    let program = (try? Path.real("/proc/self/exe")) ?? "opflow"
    self.program = program
    allocations = requests.compactMap { request in
      guard case .slurm(let options) = request else { return nil }
      return .of(options, queueMilliseconds: queueMilliseconds)
    }
    plans = requests.compactMap { request in
      switch request {
      case .exec(let command): TransportPlan(command: command)
      case .ssh(let host): TransportPlan(ssh: host, program: program)
      case .slurm: nil
      }
    }
    opening = AgentOpening(
      run: folder.id.description, planKey: planKey,
      // A fault is told before anything is asked for (`LeaseSetting`).
      leaseMilliseconds: (try? LeaseSetting())?.milliseconds ?? AgentLease.standardMilliseconds,
      folder: folder.path)
    self.variables = variables
    self.arguments = arguments
    complaints = folder.siteLog
  }

  /// From the end of an agent's lease until nothing is left of its workers, whatever state they are in.
  var slackMilliseconds: Int64 = 2_000
}
