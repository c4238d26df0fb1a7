internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// The coordinator's end of a Slurm allocation; `AllocationKeeper` does the blocking work.
/// `release`, or the death of this process, returns a requested allocation.
final class SlurmAllocation {
  enum Want: Equatable {
    case inside
    /// nil for no limit.
    case asked(options: [String], queueMilliseconds: Int64?)

    /// Without options, uses the allocation around this process, if any.
    static func of(_ options: [String], queueMilliseconds: Int64?) -> Want {
      options.isEmpty && Environment.value("SLURM_JOB_ID") != nil
        ? .inside : .asked(options: options, queueMilliseconds: queueMilliseconds)
    }
  }

  /// This process runs on a node of its allocation, and ends with it: salloc runs its command where
  /// it was called.
  static var isOnItsNode: Bool { Environment.value("SLURMD_NODENAME") != nil }

  enum News: Equatable {
    case pending(job: Int64, reason: String?)
    case granted(SlurmJob, secondsLeft: Int64?)
    /// nil if there is no limit or it is unknown.
    case left(seconds: Int64?)
    /// The allocation was refused or has ended.
    case over(complaint: String)
  }

  private let want: Want
  private let process: StartedProcess
  private var keeperInput: Descriptor?
  private var reports: Descriptor?
  private var lines = LineBuffer(longestLineBytes: AllocationLines.longestLineBytes, bytes: 131_072)
  private let watch: EventLoop
  private var isOver = false

  /// The event loop reports at `place` when `next` has news. `error` is the keeper's standard
  /// error.
  init(
    _ want: Want, watch: EventLoop, owner: EventLoop.Owner, place: UInt32, error: Int32
  ) throws(LaunchFailure) {
    self.want = want
    self.watch = watch
    do throws(Errno) {
      let keeperInput = try Pipe()
      let reports = try Pipe()
      try reports.read.setNonblocking(true)
      process = StartedProcess(
        try Program.spawn(
          searching: ["/proc/self/exe", AllocationKeeper.command] + want.words,
          input: keeperInput.read.rawValue, output: reports.write.rawValue, error: error,
          options: .newSession))
      self.keeperInput = keeperInput.takeWrite()
      let input = reports.takeRead()
      try watch.add(input.rawValue, owner, place)
      self.reports = consume input
    } catch {
      throw LaunchFailure(detail: "cannot start the process that holds the allocation: \(error)")
    }
  }

  func next() -> News? {
    while !isOver {
      switch lines.nextOfKeeper() {
      case .needsMore:
        guard let hasMore = read() else {
          return end("the process that holds the allocation has ended")
        }
        if !hasMore { return nil }
      case .malformed:
        return end("the process that holds the allocation sent an invalid line")
      case .message(.pending(let job, let reason)): return .pending(job: job, reason: reason)
      case .message(.granted(let job, let left)): return .granted(job, secondsLeft: left)
      case .message(.left(let seconds)): return .left(seconds: seconds)
      case .message(.over(let complaint)): return end(complaint)
      }
    }
    return nil
  }

  /// Returns true if there was data, nil at the end.
  private func read() -> Bool? {
    do throws(Errno) {
      let count = try lines.fill { room throws(Errno) in try reports?.read(into: room) ?? 0 }
      return count > 0 ? true : nil
    } catch .wouldBlock {
      return false
    } catch {
      return nil
    }
  }

  private func end(_ complaint: String) -> News {
    release()
    // A descriptor that cannot be removed leaves the event loop on close.
    if let raw = reports?.rawValue { try? watch.remove(raw) }
    reports = nil
    isOver = true
    return .over(complaint: complaint)
  }

  func transports(_ job: SlurmJob, program: String) -> [TransportPlan] {
    // If all other processes die, agents must end a requested allocation.
    let agent = [program, AgentMain.command] + (want == .inside ? [] : [AgentMain.endsJob])
    return job.nodes.map { node in
      TransportPlan(name: node.name, words: job.transport(to: node) + agent) { hello in
        job.killWords(job: hello.job, step: hello.step)
      }
    }
  }

  var pid: Int32? { process.pid }

  func release() { keeperInput = nil }

  func waitUntilGone(nanoseconds: Int64) {
    // An unreaped keeper is reaped after this process has ended.
    _ = process.wait(nanoseconds: nanoseconds)
  }
}

extension SlurmAllocation.Want {
  var words: [String] {
    switch self {
    case .inside: ["inside"]
    case .asked(let options, let queue): ["ask", "\(queue ?? 0)"] + options
    }
  }

  init?(words: [String]) {
    switch words.first {
    case "inside" where words.count == 1: self = .inside
    case "ask" where words.count >= 2:
      guard let queue = Int64(words[1]), queue >= 0 else { return nil }
      self = .asked(options: Array(words.dropFirst(2)), queueMilliseconds: queue > 0 ? queue : nil)
    default: return nil
    }
  }
}

struct NodeAllocation {
  let allocation: SlurmAllocation?
  var isGranted = false
  var isOver = false
  var complaint = ""
  var awaited: String?
  private(set) var endsAt: Instant?

  init(_ allocation: SlurmAllocation?) { self.allocation = allocation }

  /// Time for stopped tasks and the journal before the end.
  static let marginMilliseconds: Int64 = 5_000

  /// Returns true if the end changed by more than rounding explains.
  @discardableResult
  mutating func setTimeLeft(_ seconds: Int64?, at now: Instant) -> Bool {
    let end = seconds.map { now.advanced(byMilliseconds: max(0, $0) * 1_000) }
    if let end, let endsAt, abs(end.nanoseconds - endsAt.nanoseconds) < Self.notableNanoseconds {
      return false
    }
    defer { endsAt = end }
    return end != endsAt
  }

  private static let notableNanoseconds: Int64 = 2_000_000_000

  var leavesAt: Instant? {
    isOver ? nil : endsAt?.advanced(byMilliseconds: -Self.marginMilliseconds)
  }

  func isNearEnd(at now: Instant) -> Bool { leavesAt.map { $0 <= now } ?? false }
}
