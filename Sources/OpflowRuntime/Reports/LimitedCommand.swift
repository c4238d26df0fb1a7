package import OpflowSystem

/// Runs a program with a time limit and leaves no process of it.
package enum LimitedCommand {
  package enum End: Equatable, Sendable {
    case exit(Int32)
    case signal(Int32)
    case tookTooLong(seconds: Int64)
    /// opflow received this signal, which is consumed.
    case stopped(Signal)

    /// nil for success.
    package var fault: String? {
      switch self {
      case .exit(0): nil
      case .exit(let code): "ended with exit \(code)"
      case .signal(let number): "was ended by signal \(number)"
      case .tookTooLong(let seconds): "was killed, since it took more than \(seconds)s"
      case .stopped: "was killed, by a signal to opflow"
      }
    }
  }

  /// Returns when the program and its descendants are gone.
  package static func run(
    _ path: String, arguments: [String], input: borrowing Descriptor, output: Int32, error: Int32,
    patienceSeconds: Int64
  ) throws(Errno) -> End {
    // Existing descendants, such as an agent left by a secret's command, are spared.
    let others = Set(ProcessTree.descendants(of: ProcessID.own))
    try ProcessTree.becomeSubreaper()
    var stops: SignalSet = []
    stops.insert(unlessIgnored: .interrupt, .hangup, .terminate)
    let signals = try SignalDescriptor(stops)
    let process = try start(path, arguments, input.rawValue, output, error)
    let end = try wait(for: process, signals, patienceSeconds)
    var delivery = ProcessTree.Delivery()
    ProcessTree.signalAll(.kill, exempt: others, &delivery)
    if let end { return end }
    switch try process.wait().status {
    case .exit(let code): return .exit(code)
    case .signal(let number): return .signal(number)
    }
  }

  private static func start(
    _ path: String, _ arguments: [String], _ input: Int32, _ output: Int32, _ error: Int32
  ) throws(Errno) -> SpawnedProcess {
    do throws(ProgramError) {
      return try Program.spawn(
        path, arguments: arguments, input: input, output: output, error: error,
        options: [.newGroup, .diesWithParent])
    } catch {
      throw error.errno
    }
  }

  private static func wait(
    for process: borrowing SpawnedProcess, _ signals: borrowing SignalDescriptor,
    _ patienceSeconds: Int64
  ) throws(Errno) -> End? {
    let deadline = Clock.monotonicNanoseconds + patienceSeconds * 1_000_000_000
    var poll = PollSet(slots: 2)
    poll.set(0, process.descriptor.rawValue)
    poll.set(1, signals.rawValue)
    while true {
      let left = deadline - Clock.monotonicNanoseconds
      if left <= 0 { return .tookTooLong(seconds: patienceSeconds) }
      _ = try poll.wait(nanoseconds: left)
      if poll.isReady(0) { return nil }
      if poll.isReady(1), let signal = try signals.next() { return .stopped(signal.signal) }
    }
  }
}
