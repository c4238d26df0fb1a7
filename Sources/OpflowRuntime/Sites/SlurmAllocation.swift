internal import OpflowCore
internal import OpflowSystem

/// The coordinator's end of an allocation of Slurm: a keeper (`AllocationKeeper`) does what waits.
///
/// `release` gives back one that was asked for, as does this process's end, whatever it ends of.
final class SlurmAllocation {
  enum Want: Equatable {
    /// The one that this process runs in.
    case inside
    /// One of its own. `queueMilliseconds`: how long to wait for it; nil for ever.
    case asked(options: [String], queueMilliseconds: Int64?)

    /// Without options the one that this process runs in, where it does.
    static func of(_ options: [String], queueMilliseconds: Int64?) -> Want {
      options.isEmpty && Environment.value("SLURM_JOB_ID") != nil
        ? .inside : .asked(options: options, queueMilliseconds: queueMilliseconds)
    }
  }

  /// Whether this process runs on a node of the allocation that it is in, and ends with it: salloc leaves its own where
  /// it was called.
  static var isOnItsNode: Bool { Environment.value("SLURMD_NODENAME") != nil }

  /// What there is to tell of it.
  enum News: Equatable {
    case pending(job: Int64, reason: String?)
    case granted(SlurmJob, secondsLeft: Int64?)
    /// nil: there is no limit, or none is known.
    case left(seconds: Int64?)
    /// There is none, or none any more. Comes last.
    case over(complaint: String)
  }

  private let want: Want
  private let process: StartedProcess
  private var orders: Descriptor?
  private var reports: Descriptor?
  private var lines = LineBuffer(
    longestLineBytes: AllocationLines.longestLineBytes, bytes: 131_072)
  private let watch: Watch
  private var isOver = false

  /// - Parameters:
  ///   - place: where the watch tells that `next` has something.
  ///   - error: where the keeper itself complains.
  init(
    _ want: Want, watch: Watch, owner: Watch.Owner, place: UInt32, error: Int32
  ) throws(LaunchFailure) {
    self.want = want
    self.watch = watch
    do throws(Errno) {
      let orders = try Pipe()
      let reports = try Pipe()
      try reports.read.setNonblocking(true)
      process = StartedProcess(
        try Program.spawn(
          searching: ["/proc/self/exe", AllocationKeeper.command] + want.words,
          input: orders.read.rawValue, output: reports.write.rawValue, error: error,
          options: .newSession))
      self.orders = orders.takeWrite()
      let input = reports.takeRead()
      try watch.add(input.rawValue, owner, place)
      self.reports = consume input
    } catch {
      throw LaunchFailure(what: "an allocation's keeper could not be started: \(error)")
    }
  }

  /// The next thing that its keeper tells; nil: no more for now.
  func next() -> News? {
    while !isOver {
      switch lines.nextOfKeeper() {
      case .needsMore:
        guard let hasMore = read() else { return end("its keeper has ended") }
        if !hasMore { return nil }
      case .malformed: return end("its keeper sent a line that is no message")
      case .message(.pending(let job, let reason)): return .pending(job: job, reason: reason)
      case .message(.granted(let job, let left)): return .granted(job, secondsLeft: left)
      case .message(.left(let seconds)): return .left(seconds: seconds)
      case .message(.over(let complaint)): return end(complaint)
      }
    }
    return nil
  }

  /// Reads once. Returns whether there was anything; nil at the end.
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
    // What cannot be removed leaves the watch when it is closed.
    if let raw = reports?.rawValue { try? watch.remove(raw) }
    reports = nil
    isOver = true
    return .over(complaint: complaint)
  }

  /// What reaches agents on its nodes.
  ///
  /// - Parameter program: this one, which lies in the same place on all of them.
  func transports(_ job: SlurmJob, program: String) -> [TransportPlan] {
    // There may be nobody left who ends one that was asked for.
    let agent =
      [program, AgentMain.command] + (want == .inside ? [] : [AgentMain.endsJob])
    return job.nodes.map { node in
      TransportPlan(name: node.name, words: job.transport(to: node) + agent) { hello in
        job.killWords(job: hello.job, step: hello.step)
      }
    }
  }

  /// One that was asked for is given back; nothing more is wanted of it.
  func release() { orders = nil }

  /// Waits until it was given back, or for so long.
  func waitUntilGone(nanoseconds: Int64) {
    // One that is not reaped here is when this process has ended.
    _ = process.wait(nanoseconds: nanoseconds)
  }
}

extension SlurmAllocation.Want {
  /// Behind the keeper's word on its command line (`AllocationKeeper`).
  var words: [String] {
    switch self {
    case .inside: ["inside"]
    case .asked(let options, let queue): ["ask", "\(queue ?? 0)"] + options
    }
  }

  /// nil for words that say nothing of the kind.
  init?(words: [String]) {
    switch words.first {
    case "inside" where words.count == 1: self = .inside
    case "ask" where words.count >= 2:
      guard let queue = Int64(words[1]), queue >= 0 else { return nil }
      self = .asked(
        options: Array(words.dropFirst(2)), queueMilliseconds: queue > 0 ? queue : nil)
    default: return nil
    }
  }
}
