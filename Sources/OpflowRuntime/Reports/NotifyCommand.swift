internal import OpflowCore
package import OpflowSystem

/// Runs the command that is to hear of a drive's end. It has its time and no more, and nothing of it is left.
package enum NotifyCommand {
  package static let patienceSeconds: Int64 = 30

  package enum End: Equatable, Sendable {
    case exit(Int32)
    case signal(Int32)
    case tookTooLong
    /// Somebody wanted an end of it.
    case stopped

    /// What is wrong with it; nil for nothing.
    package var fault: String? {
      switch self {
      case .exit(0): nil
      case .exit(let code): "ended with exit \(code)"
      case .signal(let number): "was ended by signal \(number)"
      case .tookTooLong: "was killed, since it took more than \(patienceSeconds)s"
      case .stopped: "was killed, by a signal to opflow"
      }
    }
  }

  /// Runs a line for a shell, with `input` as its standard input. What it prints goes to standard error: on
  /// standard output stands what was asked for.
  package static func run(
    _ command: String, input: [UInt8], in folder: RunFolder
  ) throws(Errno) -> End {
    // What is below this process already, as an agent that a secret's command left, is none of it.
    let others = Set(ProcessTree.descendants(of: ProcessID.own))
    try ProcessTree.becomeSubreaper()
    let signals = try SignalDescriptor(Self.stops)
    let process = try start(command, input, folder)
    let end = try wait(for: process, signals)
    var delivery = ProcessTree.Delivery()
    ProcessTree.signalAll(.kill, exempt: others, &delivery)
    if let end { return end }
    switch try process.wait().status {
    case .exit(let code): return .exit(code)
    case .signal(let number): return .signal(number)
    }
  }

  private static var stops: SignalSet {
    var stops: SignalSet = []
    for signal in [Signal.interrupt, .hangup, .terminate] where !Dispositions.isIgnored(signal) {
      stops.insert(signal)
    }
    return stops
  }

  private static func start(
    _ command: String, _ input: [UInt8], _ folder: RunFolder
  ) throws(Errno) -> SpawnedProcess {
    // A file, and no pipe, whose other end would have to be waited for.
    let path = "\(folder.path)/notify.\(ProcessID.own)"
    try Path.removeIfThere(path)
    try File.open(path, [.writeOnly, .create, .exclusive, .noFollow]).writeAll(input)
    let summary = try File.open(path, [.readOnly, .noFollow])
    try Path.remove(path)
    do throws(ProgramError) {
      return try Program.spawn(
        "/bin/sh", arguments: ["-c", command], input: summary.rawValue,
        output: StandardStream.error.rawValue, error: StandardStream.error.rawValue,
        options: [.newGroup, .diesWithParent])
    } catch {
      throw error.errno
    }
  }

  /// Nil when it has ended by itself.
  private static func wait(
    for process: borrowing SpawnedProcess, _ signals: borrowing SignalDescriptor
  ) throws(Errno) -> End? {
    let deadline = Clock.monotonicNanoseconds + patienceSeconds * 1_000_000_000
    var poll = PollSet(slots: 2)
    poll.set(0, process.descriptor.rawValue)
    poll.set(1, signals.rawValue)
    while true {
      let left = deadline - Clock.monotonicNanoseconds
      if left <= 0 { return .tookTooLong }
      _ = try poll.wait(nanoseconds: left)
      if poll.isReady(0) { return nil }
      if poll.isReady(1), try signals.next() != nil { return .stopped }
    }
  }
}
