internal import OpflowBase
package import OpflowSystem

/// Runs a program with a time limit and leaves none of its processes.
package enum LimitedCommand {
  package enum End: Equatable, Sendable {
    case exit(Int32)
    case signal(Int32)
    case tookTooLong(seconds: Int64)
    /// opflow received this signal, which is consumed.
    case stopped(Signal)

    package var fault: String? {
      switch self {
      case .exit(0): nil
      case .exit(let code): "exited with code \(code)"
      case .signal(let number): "was killed by signal \(number)"
      case .tookTooLong(let seconds): "was killed because it took longer than \(seconds)s"
      case .stopped: "was killed because opflow received a signal"
      }
    }
  }

  package static func run(
    _ path: String, arguments: [String], input: borrowing Descriptor, output: Int32, error: Int32,
    patienceSeconds: Int64
  ) throws(Errno) -> End {
    // Spares existing descendants, such as an agent that a secret's command left.
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
    try rethrowing(
      Program.spawn(
        path, arguments: arguments, input: input, output: output, error: error,
        options: [.newGroup, .diesWithParent])
    ) { (error: ProgramError) in error.errno }
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

package enum GraphvizError: Error, Equatable, Sendable {
  case missing
  case unusable(String)

  package var isMissing: Bool { self == .missing }

  package var message: String {
    switch self {
    case .missing:
      "svg needs Graphviz, and `dot` was not found in PATH; install the package `graphviz`, or use"
        + " `--format mermaid`, which GitHub and GitLab render"
    case .unusable(let why): "Graphviz could not draw the graph: `dot` \(why)"
    }
  }
}

/// Runs Graphviz with a time limit and distrusts its output.
package enum Graphviz {
  /// A large graph may practically take forever.
  private static let patienceSeconds: Int64 = 60
  private static let mostComplaintBytes = 4096

  package static func svg(_ graph: [UInt8]) throws(GraphvizError) -> [UInt8] {
    guard let program else { throw .missing }
    let (end, drawn, complaints): (LimitedCommand.End, [UInt8], String)
    do throws(Errno) {
      (end, drawn, complaints) = try run(program, graph)
    } catch {
      throw .unusable("cannot be started: \(error)")
    }
    if let fault = end.fault {
      let isTooMuch = if case .tookTooLong = end { true } else { false }
      throw .unusable(fault + (isTooMuch ? "; without -v the graph is smaller" : complaints))
    }
    if drawn.isEmpty { throw .unusable("printed nothing" + complaints) }
    return drawn
  }

  private static func run(
    _ program: String, _ graph: [UInt8]
  ) throws(Errno) -> (LimitedCommand.End, drawn: [UInt8], complaints: String) {
    // Pipes would have to be read and written concurrently.
    let input = try File.inMemory()
    try input.writeAll(graph)
    try input.seek(to: 0)
    let output = try File.inMemory()
    let complaints = try File.inMemory()
    let end = try LimitedCommand.run(
      program, arguments: ["-Tsvg"], input: input, output: output.rawValue,
      error: complaints.rawValue, patienceSeconds: patienceSeconds)
    try output.seek(to: 0)
    try complaints.seek(to: 0)
    let words = try complaints.readAll(atMost: mostComplaintBytes)
    let first = words.prefix { $0 != Field.lineFeed }
    let said = CleanText.string(String(decoding: first, as: UTF8.self))
    return (end, try output.readAll(), said.isEmpty ? "" : ": \(said)")
  }

  /// Ignores relative folders of PATH, which could contain an untrusted program.
  private static var program: String? {
    let folders = (Environment.value("PATH") ?? "/usr/local/bin:/usr/bin:/bin").split(
      separator: ":")
    return folders.lazy.filter { $0.hasPrefix("/") }.map { "\($0)/dot" }
      .first { Path.exists($0) && !Path.isDirectory($0) }
  }
}

/// The user's command at the end of a session.
package enum NotifyCommand {
  private static let patienceSeconds: Int64 = 30

  /// Writes output to standard error: standard output is for opflow's results.
  package static func run(_ command: String, input: [UInt8]) throws(Errno) -> LimitedCommand.End {
    // A pipe could block.
    let summary = try File.inMemory()
    try summary.writeAll(input)
    try summary.seek(to: 0)
    let error = StandardStream.error.rawValue
    return try LimitedCommand.run(
      "/bin/sh", arguments: ["-c", command], input: summary, output: error, error: error,
      patienceSeconds: patienceSeconds)
  }
}
