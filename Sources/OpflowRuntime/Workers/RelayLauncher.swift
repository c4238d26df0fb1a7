internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// Workers behind one stream: an agent starts and ends them on request and relays their lines, each
/// prefixed with the worker's number (`RelayLines`).
///
/// A lost stream loses all its workers. It is lost at its end, on a read or write error, without a
/// pulse, and at a line that is too long, malformed or names an unknown worker: later input cannot
/// be trusted. A malformed line of a worker costs only that worker. Lines before the agent's hello
/// are skipped, since a shell's start-up files may print. `Nodes` decides when the workers of a
/// lost stream are gone.
///
/// Nothing blocks: beyond `mostUnsentBytes` messages stay in the worker's outbox, which the engine
/// bounds. So a slow agent delays neither other nodes nor its own reports.
final class RelayLauncher: Launcher {
  /// The launcher's index in the session.
  let number: Int
  private let watch: EventLoop
  let name: String
  private(set) var hello: AgentHello?
  private var preamble: [UInt8] = []
  private var preambleBytes = 0
  /// When the last pulse or the hello arrived.
  private(set) var heardAt: Instant
  private(set) var isDismissed = false
  /// No worker process is left.
  private(set) var saidBye = false
  /// nil if another process carries the stream.
  private let transport: NodeTransport?
  private var killer: NodeKiller?
  private var input: Descriptor?
  private var output: Descriptor?
  private var lines = LineBuffer(
    longestLineBytes: RelayLines.longestLineBytes, bytes: RelayLauncher.mostReadBytes)
  /// Holds a line of the worker that reported last.
  private let inbox = Inbox()
  private var outbox = FieldWriter()
  private var sent = 0
  private var awaitsRoom = false
  /// Reported at the next event.
  private var writeFailure: Errno?

  /// Kept until the agent reports their end, even if they were given up.
  private var workers: [WorkerID: WorkerLink] = [:]
  /// Processes that the agent could not end; the end of their workers follows.
  private var survivors: [WorkerID: LeftBehind] = [:]
  private var waiting: [WorkerLink] = []
  /// When to stop waiting for the exit code of a transport that ends before the hello.
  private(set) var exitDeadline: Instant?
  private var wasRead = false
  private var loss: Loss?

  private struct Loss {
    let complaint: String
    /// Report the loss of the stream first, then of the workers.
    var isUntold = true
    var untold: [WorkerLink]
  }

  private static let mostReadBytes = 16_384
  private static let mostUnsentBytes = 65_536
  /// The time from `kill` to `gone` before a worker is unkillable.
  private static let killPatienceMilliseconds: Int64 = 12_000
  private static let exitPatienceMilliseconds: Int64 = 1_000
  private static let mostPreambleBytes = 2_000
  /// Before the hello: a command that prints without end is not an agent.
  private static let mostForeignBytes = 1 << 20
  private static let mostShownCharacters = 400

  private enum Place {
    static let reports: UInt32 = 0, messages: UInt32 = 1, transport: UInt32 = 2, killer: UInt32 = 3
  }

  /// `node` is the launcher's index in the session. `input` comes from the agent and is not the
  /// same descriptor as `output`.
  init(
    node: Int, watch: EventLoop, name: String, input: consuming Descriptor,
    output: consuming Descriptor, transport: NodeTransport? = nil, at now: Instant
  ) throws(Errno) {
    number = node
    self.transport = transport
    self.watch = watch
    self.name = name
    heardAt = now
    try input.setNonblocking(true)
    try output.setNonblocking(true)
    try watch.add(input.rawValue, .node(number), Place.reports)
    if let transport {
      try watch.add(transport.rawDescriptor, .node(number), Place.transport)
    }
    self.input = consume input
    self.output = consume output
  }

  // MARK: - Starting

  /// Called first. Returns an error if something cannot be sent.
  func open(_ opening: AgentOpening, variables: [String], arguments: TaskArguments?) -> String? {
    guard RelayLines.open(opening, into: &outbox) else {
      return "the path of the run's folder is too long to send to a node: \(opening.folder)"
    }
    for variable in variables where !RelayLines.variable(variable, into: &outbox) {
      let name = variable.prefix { $0 != "=" }
      return "the environment variable \(name) is too long to send to a node"
    }
    if let arguments { RelayLines.arguments(arguments, into: &outbox) }
    flush()
    return nil
  }

  func launch(_ worker: WorkerID, _ kind: WorkerKind) throws(LaunchFailure) -> WorkerLink {
    if let loss { throw LaunchFailure(detail: loss.complaint) }
    if kind == .terminal {
      throw LaunchFailure(detail: "node \(name) cannot use the terminal of this run")
    }
    let link = WorkerLink(
      id: worker, kind: kind, node: number, entry: nil, inbox: inbox, isNumbered: true)
    workers[worker] = link
    RelayLines.launch(worker, kind, into: &outbox)
    flush()
    return link
  }

  // MARK: - Messages

  func next(at place: UInt32) -> LinkNews? {
    if place == Place.transport {
      if let transport { try? watch.remove(transport.rawDescriptor) }
      // After the hello the transport's end proves nothing: end-of-file or the heartbeat timeout
      // decides.
      guard exitDeadline != nil else { return nil }
      lose(wordless)
    }
    if place == Place.killer {
      if let killer, killer.process.reap() { try? watch.remove(killer.process.rawDescriptor) }
      return nil
    }
    if loss == nil {
      if let news = place == Place.messages ? nextOfRoom() : nextReport() { return news }
    }
    guard let complaint = loss?.complaint else { return nil }
    if loss?.isUntold == true {
      loss?.isUntold = false
      return .lost(self, complaint)
    }
    return loss?.untold.popLast().map { .silent($0, complaint: complaint) }
  }

  private func nextOfRoom() -> LinkNews? {
    flush()
    if let writeFailure {
      if hello == nil {
        closeOutput()
        awaitExit()
      } else {
        lose("cannot send to it: \(writeFailure)")
      }
    }
    return nil
  }

  private func nextReport() -> LinkNews? {
    if !wasRead, !read() { return nil }
    guard hello != nil else { return nextFirstWord() }
    switch lines.nextRelayed(into: &inbox.lines) {
    case .message(.line(let worker)):
      if let link = workers[worker] { return .spoke(link) }
      lose("it sent a line of worker \(worker.rawValue), which does not exist")
    case .message(.gone(let worker, let complaint)):
      if let link = workers.removeValue(forKey: worker) {
        let survivors = survivors.removeValue(forKey: worker)
        return .gone(link, complaint: complaint, warnings: [], survivors: survivors)
      }
      lose("it reported the end of worker \(worker.rawValue), which does not exist")
    case .message(.survived(let worker, let left)):
      if workers[worker] != nil { survivors[worker] = left }
      return .heard
    case .message(.pulse(let number)):
      heardAt = Instant(nanoseconds: Clock.monotonicNanoseconds)
      RelayLines.pulse(number, into: &outbox)
      flush()
      return .heard
    case .message(.leaving(let detail)): return .leaving(self, detail)
    case .message(.bye):
      saidBye = true
      lose("its agent exited")
    case .message(.hello), .message(.refused), .malformed:
      lose("it sent an invalid line")
    case .needsMore: wasRead = false
    }
    return nil
  }

  /// Skips lines before the agent's hello.
  private func nextFirstWord() -> LinkNews? {
    switch lines.nextRelayed(into: &inbox.lines, orElse: { notePreamble($0) }) {
    case .message(.hello(let hello)):
      self.hello = hello
      heardAt = Instant(nanoseconds: Clock.monotonicNanoseconds)
      return .joined(self, hello)
    case .message(.refused(let detail)): lose("its agent cannot work for this run: \(detail)")
    case .message: return .heard
    case .malformed: lose("it sent an invalid line")
    case .needsMore:
      wasRead = false
      if preambleBytes > Self.mostForeignBytes {
        let size = SizeText.text(bytes: UInt64(Self.mostForeignBytes))
        lose("the first \(size) of its output contain no greeting of an opflow agent")
      }
    }
    return nil
  }

  private func read() -> Bool {
    do throws(Errno) {
      let count = try lines.fill { room throws(Errno) in try input?.read(into: room) ?? 0 }
      if count == 0 { endOfStream() }
      wasRead = count > 0
      return wasRead
    } catch .wouldBlock {
      return false
    } catch {
      lose("cannot read from it: \(error)")
      return false
    }
  }

  func send(to link: WorkerLink) {
    guard loss == nil, !waiting.contains(where: { $0 === link }) else { return }
    waiting.append(link)
    flush()
  }

  /// Refills the outbox while the kernel takes everything.
  private func flush() {
    repeat {
      while outbox.bytes.count < Self.mostUnsentBytes, !waiting.isEmpty {
        let link = waiting.removeFirst()
        outbox.append(link.outbox)
        link.outbox.removeAll()
      }
      write()
    } while outbox.isEmpty && !waiting.isEmpty
    if awaitsRoom == !outbox.isEmpty { return }
    awaitsRoom.toggle()
    guard let raw = output?.rawValue else { return }
    do throws(Errno) {
      if awaitsRoom {
        try watch.add(raw, .node(number), Place.messages, for: .writable)
      } else {
        try watch.remove(raw)
      }
    } catch {
      // The agent sees this end and closes the other direction.
      output = nil
    }
  }

  private func write() {
    if writeFailure != nil { return }
    do throws(Errno) {
      try output?.write(outbox.bytes, behind: &sent)
    } catch .wouldBlock {
      return
    } catch {
      return writeFailure = error
    }
    sent = 0
    outbox.removeAll()
  }

  private func endOfStream() {
    if hello != nil { return lose("its connection was closed") }
    close()
    awaitExit()
  }

  /// The stream ended before an agent answered. The exit code, which may name the cause, often
  /// follows a moment later.
  private func awaitExit() {
    if transport?.isOver ?? true { return lose(wordless) }
    if exitDeadline != nil { return }
    let now = Instant(nanoseconds: Clock.monotonicNanoseconds)
    exitDeadline = now.advanced(byMilliseconds: Self.exitPatienceMilliseconds)
  }

  func loseAtExitDeadline() { lose(wordless) }

  private var wordless: String {
    transport?.end()
    let end = transport?.exitCode.map { " (exit \($0))" } ?? ""
    return "the command that connects to it ended\(end) before an agent answered"
  }

  // MARK: - Ending

  /// Closes both directions, so that the agent notices.
  func lose(_ complaint: String) {
    if loss != nil { return }
    close()
    loss = Loss(
      complaint: complaint, untold: workers.values.sorted { $0.id.rawValue > $1.id.rawValue })
    workers.removeAll()
    waiting.removeAll()
  }

  private func close() {
    // A descriptor that cannot be removed leaves the event loop on close.
    if let raw = input?.rawValue { try? watch.remove(raw) }
    input = nil
    closeOutput()
  }

  private func closeOutput() {
    if awaitsRoom, let raw = output?.rawValue { try? watch.remove(raw) }
    awaitsRoom = false
    output = nil
    outbox.removeAll()
    sent = 0
  }

  func end(_ link: WorkerLink, at now: Instant) -> Instant {
    // All workers of a lost stream are handled together.
    if loss != nil { return Instant(nanoseconds: .max) }
    waiting.removeAll { $0 === link }
    link.outbox.removeAll()
    // Exceeds the limit of unsent bytes by at most one message per worker.
    RelayLines.kill(link.id, into: &outbox)
    flush()
    return now.advanced(byMilliseconds: Self.killPatienceMilliseconds)
  }

  /// After a loss, the agent has ended the worker by now.
  func giveUp(_ link: WorkerLink) -> [String] {
    loss == nil ? ["cannot end worker \(link.id.rawValue) on node \(name)"] : []
  }

  /// Services on nodes never outlive a session.
  func release(_ link: WorkerLink) {}
  func regain(_ link: WorkerLink) {}

  func endAll() { close() }

  func cleanUp() { close() }

  func dismiss() {
    if loss != nil || isDismissed { return }
    isDismissed = true
    RelayLines.bye(into: &outbox)
    flush()
  }

  var isOver: Bool { loss != nil && transport?.end() ?? true }

  func endAgent(_ words: [String], complaints: ComplaintFile, at now: Instant) {
    guard let killer = NodeKiller(words, complaints: complaints, at: now) else { return }
    self.killer = killer
    // On failure the end is seen at the deadline.
    try? watch.add(killer.process.rawDescriptor, .node(number), Place.killer)
  }

  var children: [Int32] { [transport?.pid, killer?.process.pid].compactMap { $0 } }

  /// When to stop waiting for the command; nil if it has ended or never started.
  var killerDeadline: Instant? { killer?.deadline }

  func killTransport() { transport?.end() }

  var lastWords: String {
    [String(decoding: preamble, as: UTF8.self), transport?.complaint ?? ""].flatMap { said in
      let lines = said.split(whereSeparator: \.isNewline).map { CleanText.string(String($0)) }
      let text = lines.joined(separator: "; ")
      let isLong = text.count > Self.mostShownCharacters
      return text.isEmpty ? [] : [isLong ? text.prefix(Self.mostShownCharacters) + "…" : text]
    }.joined(separator: "; ")
  }

  private func notePreamble(_ line: UnsafeRawBufferPointer) {
    preambleBytes += line.count + 1
    guard preamble.count < Self.mostPreambleBytes else { return }
    preamble += line.prefix(Self.mostPreambleBytes - preamble.count)
    preamble.append(Field.lineFeed)
  }
}

/// A command on this machine that carries the stream to an agent. It leads its own session, so that
/// terminal keys do not reach it. Its process group is killed before it is reaped (`end`), since it
/// may be a shell that ends before its children.
final class NodeTransport {
  private let process: StartedProcess
  private let complaints: ComplaintFile
  private let complaintStart: Int64

  /// `body` gets the near ends of the command's standard output and input.
  static func start<Result>(
    _ words: [String], complaints: ComplaintFile,
    _ body: (NodeTransport, consuming Descriptor, consuming Descriptor) throws(Errno) -> Result
  ) throws(LaunchFailure) -> Result {
    let name = words.first ?? ""
    let detail = "cannot start `\(name)`"
    let messages = try LaunchFailure.naming(detail, Pipe())
    let reports = try LaunchFailure.naming(detail, Pipe())
    let start = try LaunchFailure.naming(detail, complaints.end())
    let process = try LaunchFailure.naming(
      detail,
      Program.spawn(
        searching: words, input: messages.read.rawValue, output: reports.write.rawValue,
        error: complaints.rawDescriptor, options: .newSession))
    let transport = NodeTransport(StartedProcess(process), complaints, complaintStart: start)
    do throws(Errno) {
      return try body(transport, reports.takeRead(), messages.takeWrite())
    } catch {
      transport.end()
      throw LaunchFailure(
        detail: "cannot watch the output of `\(name)`: \(error)", isShortage: error.isShortage)
    }
  }

  private init(_ process: StartedProcess, _ complaints: ComplaintFile, complaintStart: Int64) {
    self.process = process
    self.complaints = complaints
    self.complaintStart = complaintStart
  }

  var rawDescriptor: Int32 { process.rawDescriptor }

  var pid: Int32? { process.pid }

  var isOver: Bool { process.isOver }

  /// Kills the command and its children. Returns true if the command has ended.
  @discardableResult
  func end() -> Bool {
    process.killGroup()
    return process.reap()
  }

  /// nil before the end was seen (`end`), or if a signal ended the command.
  var exitCode: Int32? {
    if case .exit(let code) = process.status { code } else { nil }
  }

  var complaint: String { complaints.text(from: complaintStart) }
}

/// A command that kills an agent after its stream is lost, for agents that are stopped and cannot
/// react to the heartbeat timeout. opflow waits for the command within a limit, but does not check
/// its success, since only the timeout decides. Slurm takes twelve seconds to notice that a node
/// has lost its network; the command then continues by itself.
final class NodeKiller {
  let process: StartedProcess
  private let giveUpAt: Instant

  private static let patienceMilliseconds: Int64 = 3_000

  init?(_ words: [String], complaints: ComplaintFile, at now: Instant) {
    giveUpAt = now.advanced(byMilliseconds: Self.patienceMilliseconds)
    do throws(Errno) {
      let nothing = try File.openNull()
      process = StartedProcess(
        try Program.spawn(
          searching: words, input: nothing.rawValue, output: complaints.rawDescriptor,
          error: complaints.rawDescriptor, options: .newSession))
    } catch {
      return nil
    }
  }

  var deadline: Instant? { process.hasEnded ? nil : giveUpAt }
}
