internal import OpflowBase
internal import OpflowEngine
internal import OpflowManifest
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// The nodes of a session. A *place* is the target of one transport:
///
///     waiting ──> connecting ──> joined ──> lost ──> waiting
///        ^            │                                 │
///        └────────────┴──────────> given up <───────────┘
///
/// - *connecting* until the agent's hello, within a time limit.
/// - *joined*: a node that gets tasks.
/// - *lost*: the stream has ended, but the agent may still live. The node gets no tasks, and its
///   workers keep their tasks until the heartbeat timeout has certainly expired. On Slurm, opflow
///   also kills the agent and waits for its end. opflow ends what the workers left on this machine;
///   on another machine that is impossible if agent and worker died at once. Then the node is lost
///   for the engine, and its tasks run elsewhere.
/// - A lost place is retried a limited number of times, as a new node on the same machine.
final class Nodes {
  struct Place {
    let plan: TransportPlan
    var allocation: Int?
    var state: State
    var failures = 0
    /// How often in a row no process was available for the transport.
    var shortages = 0
    var losses = 0
    /// The search for processes of lost workers on this machine; nil before it begins.
    var orphans: OrphanSearch?
    var complaint = ""
    /// What delays the node; nil for nothing, or if an answer is due at any moment.
    var awaited: String?
  }

  enum State {
    case waiting(until: Instant)
    case connecting(RelayLauncher, by: Instant)
    case joined(RelayLauncher, NodeID)
    case lost(RelayLauncher, NodeID, until: Instant, complaint: String)
    case givenUp(String)
  }

  let settings: NodeSettings
  let complaints: ComplaintFile
  var places: [Place]
  var allocations: [NodeAllocation] = []
  private var machines: [String: Int32] = [:]
  var isExhausted = false
  var isTold = false

  static let connectMilliseconds: Int64 = 60_000
  static let promptMilliseconds: Int64 = 1_000
  static let mostFailures = 3
  static let mostLosses = 8
  private static let firstDelayMilliseconds: Int64 = 500

  init(_ settings: NodeSettings, at now: Instant) throws(Errno) {
    self.settings = settings
    complaints = try ComplaintFile(settings.complaints)
    places = settings.plans.map { Place(plan: $0, state: .waiting(until: now)) }
  }

  func machine(of host: String) -> Int32 {
    if let known = machines[host] { return known }
    let number = Int32(truncatingIfNeeded: machines.count + 1)
    machines[host] = number
    return number
  }

  func index(of launcher: RelayLauncher) -> Int? {
    places.firstIndex { $0.launcher === launcher }
  }

  /// Returns the reason to report if the place is given up; nil if it is retried.
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
        ? "opflow no longer uses node \(place.plan.name), which was lost \(place.losses) times: "
          + "\(complaint)"
        : "cannot reach node \(place.plan.name), tried \(place.failures) times: \(complaint)"
      places[index].state = .givenUp(why)
      return why
    }
    let doublings = place.failures
    let delay = doublings == 0 ? 0 : Self.firstDelayMilliseconds << Int64(doublings)
    places[index].state = .waiting(until: now.advanced(byMilliseconds: delay))
    return nil
  }

  static let overText = "the time of the allocation has run out"

  func close(_ index: Int, complaint: String) -> [(RelayLauncher, NodeID)] {
    allocations[index].isOver = true
    allocations[index].complaint = complaint
    var joined: [(RelayLauncher, NodeID)] = []
    for place in places.indices where places[place].allocation == index {
      switch places[place].state {
      case .waiting: places[place].state = .givenUp(complaint)
      case .joined(let launcher, let node): joined.append((launcher, node))
      case .connecting, .lost, .givenUp: break
      }
    }
    return joined
  }

  /// When an agent's timeout, which starts at its own message, has certainly expired.
  func end(ofLeaseHeardAt heard: Instant) -> Instant {
    heard.advanced(byMilliseconds: settings.leaseMilliseconds)
  }

  /// When all workers are certainly gone as well.
  func end(ofWorkersHeardAt heard: Instant) -> Instant {
    end(ofLeaseHeardAt: heard).advanced(byMilliseconds: settings.slackMilliseconds)
  }

  func giveBack() {
    for allocation in allocations { allocation.allocation?.release() }
    for allocation in allocations {
      allocation.allocation?.waitUntilGone(nanoseconds: Self.releaseNanoseconds)
    }
    complaints.cleanUp()
  }

  private static let releaseNanoseconds: Int64 = 5_000_000_000

  func add(_ plan: TransportPlan, of allocation: Int, at now: Instant) {
    places.append(Place(plan: plan, allocation: allocation, state: .waiting(until: now)))
  }

  static func awaited(from by: Instant) -> Instant {
    by.advanced(byMilliseconds: promptMilliseconds - connectMilliseconds)
  }

  /// Why places did not join, except places that may answer at any moment.
  var absentees: [String] {
    places.compactMap { place in
      switch place.state {
      case .waiting, .connecting:
        if place.losses > 0 || place.complaint.isEmpty && place.awaited == nil { return nil }
        let why =
          place.complaint.isEmpty ? "it did not answer before the run ended" : place.complaint
        return "node \(place.plan.name) did not join the run: \(why)"
      case .joined, .lost, .givenUp: return nil
      }
    }
  }

  var nextWake: Instant? {
    let ends = allocations.compactMap(\.leavesAt)
    return ([placesNextWake] + ends).compactMap { $0 }.min()
  }

  private var placesNextWake: Instant? {
    places.compactMap { place -> Instant? in
      switch place.state {
      case .waiting(let until): until
      case .connecting(let launcher, let by):
        min(launcher.exitDeadline ?? by, place.awaited == nil ? Self.awaited(from: by) : by)
      case .joined(let launcher, _): end(ofLeaseHeardAt: launcher.heardAt)
      case .lost(let launcher, _, let until, _): max(until, launcher.killerDeadline ?? until)
      case .givenUp: nil
      }
    }.min()
  }

  /// True once every requested node has joined or will not come.
  var areKnown: Bool {
    allocations.allSatisfy { $0.isGranted || $0.isOver }
      && places.allSatisfy {
        switch $0.state {
        case .joined, .lost, .givenUp: true
        case .waiting, .connecting: $0.losses > 0
        }
      }
  }

  /// True if no node is left or expected.
  var areExhausted: Bool {
    allocations.allSatisfy { $0.isGranted || $0.isOver }
      && places.allSatisfy {
        if case .givenUp = $0.state { true } else { false }
      }
  }

  /// Why no node is left: as many complaints as fit a line.
  var complaint: String {
    var all = allocations.map(\.complaint).filter { !$0.isEmpty }
    for case .givenUp(let complaint) in places.map(\.state) where !all.contains(complaint) {
      all.append(complaint)
    }
    if all.isEmpty { return "`--on` names no node" }
    let more = all.count - Self.mostComplaints
    return all.prefix(Self.mostComplaints).joined(separator: "; ")
      + (more > 0 ? "; … and \(more) more" : "")
  }

  private static let mostComplaints = 3
}

extension Nodes.Place {
  /// Handles a lack of processes for the transport. Returns true if the place waits.
  mutating func awaitProcess(at now: Instant) -> Bool {
    guard shortages < SchedulerOptions.maxShortages else { return false }
    state = .waiting(
      until: now.advanced(byMilliseconds: SchedulerOptions.shortageMilliseconds(shortages)))
    shortages += 1
    return true
  }

  var launcher: RelayLauncher? {
    switch state {
    case .connecting(let launcher, _), .joined(let launcher, _), .lost(let launcher, _, _, _):
      launcher
    case .waiting, .givenUp: nil
    }
  }
}

struct NodeSettings {
  var plans: [TransportPlan]
  var allocations: [SlurmAllocation.Want]
  /// This program; all machines with a shared file system have it at the same path.
  let program: String
  var opening: AgentOpening
  var variables: [String]
  var arguments: TaskArguments?
  var complaints: String
  var leaseMilliseconds: Int64 { opening.leaseMilliseconds }

  /// - Parameters:
  ///   - folder: The run's folder, which all nodes must see.
  ///   - queueMilliseconds: The longest wait for an allocation; nil for no limit.
  init(
    _ requests: [NodeRequest], folder: RunFolder, planKey: String, variables: [String],
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
      // `LeaseSetting` reported an invalid value before.
      leaseMilliseconds: (try? LeaseSetting())?.milliseconds ?? AgentLease.standardMilliseconds,
      folder: folder.path)
    self.variables = variables
    self.arguments = arguments
    complaints = folder.nodeLog
  }

  /// The time from an agent's heartbeat timeout until its workers are certainly gone.
  var slackMilliseconds: Int64 = 2_000
}

struct TransportPlan: Sendable {
  /// The name that the user sees until the agent reports one.
  var name: String
  /// The command whose standard input and output reach the agent.
  var words: [String]
  /// A command that reliably kills the agent; nil if no such command exists.
  var killWords: (@Sendable (AgentHello) -> [String]?)?

  init(name: String, words: [String], killWords: (@Sendable (AgentHello) -> [String]?)? = nil) {
    self.name = name
    self.words = words
    self.killWords = killWords
  }
}

extension TransportPlan {
  /// Starts this program as agent, or the node's `opflow` in PATH if the path does not exist there.
  static func agentCommand(of program: String) -> String {
    let quoted = QuotedWords.quoted(program)
    return "test -x \(quoted) && exec \(quoted) agent || exec opflow agent"
  }

  init(command: String) {
    self.init(name: "`\(command)`", words: ["/bin/sh", "-c", command])
  }

  /// Without prompts, and with timeouts that soon detect a missing machine.
  init(ssh host: String, program: String) {
    self.init(
      name: host,
      words: [
        "ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "-o",
        "ClearAllForwardings=yes",
        "-o", "ServerAliveInterval=5", "--", host, Self.agentCommand(of: program),
      ])
  }
}

/// The heartbeat timeout from `OPFLOW_LEASE`: how long tasks on nodes continue without the
/// coordinator. Raise it for networks with long stalls.
package struct LeaseSetting: Equatable {
  package static let variable = "OPFLOW_LEASE"

  let milliseconds: Int64

  package init(_ text: String? = Environment.value(variable)) throws(LeaseFault) {
    guard let text else {
      milliseconds = AgentLease.standardMilliseconds
      return
    }
    guard let given = WrittenDuration.milliseconds(text), (100...3_600_000).contains(given) else {
      throw LeaseFault(
        message: "\(Self.variable): `\(CleanText.string(text))` is not a valid heartbeat timeout; "
          + "use a duration from 100ms to 1h, such as 20s")
    }
    milliseconds = Int64(given)
  }
}

package struct LeaseFault: Error, Equatable {
  package let message: String
}
