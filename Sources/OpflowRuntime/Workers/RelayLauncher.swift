internal import OpflowCore
internal import OpflowSystem

/// Workers behind one stream: an agent starts and ends them when told, and passes on their lines, each
/// with its worker's number in front (`RelayLines`).
///
/// The stream is the site: when it is lost, so are all workers behind it, and no more are to be had. It is
/// lost when its end is seen, when it cannot be read or written, when no pulse comes, and when a line is
/// too long, is no message of an agent's, or speaks of a worker that is not there: from then on nothing on
/// it can be believed. A worker's own line that is no message costs that worker alone. Before the agent's
/// first word lines may come that are none: a shell's start-up files print what they like.
///
/// What becomes of the workers of a stream that is lost is decided where the lease is known (`Sites`): only
/// there they are taken for gone.
///
/// Nothing waits for anything: what the stream does not take is kept, and beyond `mostUnsentBytes` it
/// stays in the outbox of its worker, where the engine bounds it, until there is room. So an agent
/// that reads slowly holds up neither other sites nor what is heard of this one. That a worker which does
/// not read holds up no other is the agent's to see to.
final class RelayLauncher: Launcher {
  /// Its number among the launchers of the drive.
  let number: Int
  private let watch: Watch
  /// For people.
  let name: String
  /// The agent has said what its machine has.
  private(set) var hello: AgentHello?
  /// What came before that, for people.
  private var preamble: [UInt8] = []
  /// How much of that came.
  private var preambleBytes = 0
  /// When the newest pulse was received, or the agent's first word.
  private(set) var heardAt: Instant
  /// It was told to leave.
  private(set) var isDismissed = false
  /// It said that nothing is left of any worker.
  private(set) var saidBye = false
  /// What carries the stream, where that is a process of this one.
  private let transport: SiteTransport?
  /// Ends the agent once the stream is lost.
  private var killer: SiteKiller?
  private var input: Descriptor?
  private var output: Descriptor?
  private var lines = LineBuffer(
    longestLineBytes: RelayLines.longestLineBytes, bytes: RelayLauncher.mostReadBytes)
  /// The line of the worker that spoke last.
  private let inbox = Inbox()
  private var outbox = FieldWriter()
  /// How much of it the stream has taken.
  private var sent = 0
  private var awaitsRoom = false
  /// Why the stream cannot be written. That is told when the watch comes back to it.
  private var writeFailure: Errno?

  /// Those that the agent has not said are gone, given up or not.
  private var workers: [WorkerID: WorkerLink] = [:]
  /// Those that have orders for which there is no room, in the order in which they came.
  private var waiting: [WorkerLink] = []
  /// It was read from since it was last asked for.
  private var wasRead = false
  private var loss: Loss?

  /// What became of the stream.
  private struct Loss {
    let complaint: String
    /// It is to be told of the stream itself, then of these workers.
    var isUntold = true
    var untold: [WorkerLink]
  }

  private static let mostReadBytes = 16_384
  private static let mostUnsentBytes = 65_536
  /// From `kill` to `gone`, before it counts as one that cannot be ended.
  private static let killPatienceMilliseconds: Int64 = 12_000
  private static let mostPreambleBytes = 2_000
  /// Before the hello. A command that prints without end is not an agent's.
  private static let mostForeignBytes = 1 << 20
  private static let mostShownCharacters = 400

  /// What is watched of the stream.
  private enum Place {
    static let reports: UInt32 = 0, orders: UInt32 = 1, transport: UInt32 = 2, killer: UInt32 = 3
  }

  /// - Parameters:
  ///   - site: its number among the launchers of the drive.
  ///   - input: from the agent; another descriptor than `output`.
  init(
    site: Int, watch: Watch, name: String, input: consuming Descriptor,
    output: consuming Descriptor, transport: SiteTransport? = nil, at now: Instant
  ) throws(Errno) {
    number = site
    self.transport = transport
    self.watch = watch
    self.name = name
    heardAt = now
    try input.setNonblocking(true)
    try output.setNonblocking(true)
    try watch.add(input.rawValue, .site(number), Place.reports)
    if let transport {
      try watch.add(transport.rawDescriptor, .site(number), Place.transport)
    }
    self.input = consume input
    self.output = consume output
  }

  // MARK: - Coming

  /// Tells the agent what it is to work for. Comes first.
  ///
  /// - Returns: what cannot be told; nil where all was.
  func open(
    _ opening: AgentOpening, variables: [String], arguments: TaskArguments?
  ) -> String? {
    guard RelayLines.open(opening, into: &outbox) else {
      return "the path of the run's folder is too long for other machines: \(opening.folder)"
    }
    for variable in variables where !RelayLines.variable(variable, into: &outbox) {
      return "a variable is too long for other machines: \(variable.prefix { $0 != "=" })"
    }
    if let arguments { RelayLines.arguments(arguments, into: &outbox) }
    flush()
    return nil
  }

  func launch(_ worker: WorkerID, _ kind: WorkerKind) throws(LaunchFailure) -> WorkerLink {
    if let loss { throw LaunchFailure(what: loss.complaint) }
    if kind == .terminal { throw LaunchFailure(what: "\(name) has no terminal of this run") }
    let link = WorkerLink(
      id: worker, kind: kind, site: number, entry: nil, inbox: inbox, isNumbered: true)
    workers[worker] = link
    RelayLines.launch(worker, kind, into: &outbox)
    flush()
    return link
  }

  // MARK: - Talking

  func next(at place: UInt32) -> LinkNews? {
    if place == Place.transport {
      // Its end proves nothing of the agent's: the end of the stream, or the lease, is what counts.
      if let transport { try? watch.remove(transport.rawDescriptor) }
      return nil
    }
    if place == Place.killer {
      if let killer, killer.process.reap() { try? watch.remove(killer.process.rawDescriptor) }
      return nil
    }
    if loss == nil {
      if let news = place == Place.orders ? nextOfRoom() : nextReport() { return news }
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
      lose(hello == nil ? wordless : "its stream could not be written: \(writeFailure)")
    }
    return nil
  }

  /// What comes from one read.
  private func nextReport() -> LinkNews? {
    if !wasRead, !read() { return nil }
    guard hello != nil else { return nextFirstWord() }
    switch lines.nextRelayed(into: &inbox.lines) {
    case .message(.line(let worker)):
      if let link = workers[worker] { return .spoke(link) }
      lose("\(name) passed on a line of worker number \(worker.rawValue), which is not there")
    case .message(.gone(let worker, let complaint)):
      if let link = workers.removeValue(forKey: worker) {
        return .gone(link, complaint: complaint, warnings: [], survivors: nil)
      }
      lose("\(name) told the end of worker number \(worker.rawValue), which is not there")
    case .message(.pulse(let number)):
      heardAt = Instant(nanoseconds: Clock.monotonicNanoseconds)
      RelayLines.pulse(number, into: &outbox)
      flush()
      return .heard
    case .message(.leaving(let what)): return .leaving(self, what)
    case .message(.bye):
      saidBye = true
      lose("its agent left")
    case .message(.hello), .message(.refused), .malformed:
      lose("\(name) sent a line that is no message")
    case .needsMore: wasRead = false
    }
    return nil
  }

  /// Passes over what stands before the agent's first word.
  private func nextFirstWord() -> LinkNews? {
    switch lines.nextRelayed(into: &inbox.lines, orElse: { notePreamble($0) }) {
    case .message(.hello(let hello)):
      self.hello = hello
      heardAt = Instant(nanoseconds: Clock.monotonicNanoseconds)
      return .joined(self, hello)
    case .message(.refused(let what)): lose("its agent cannot work for this run: \(what)")
    case .message: return .heard
    case .malformed: lose("\(name) sent a line that is no message")
    case .needsMore:
      wasRead = false
      if preambleBytes > Self.mostForeignBytes {
        let size = SizeText.text(bytes: UInt64(Self.mostForeignBytes))
        lose("the first \(size) of its output had no hello of an agent")
      }
    }
    return nil
  }

  /// Reads once. Returns whether there was anything.
  private func read() -> Bool {
    do throws(Errno) {
      let count = try lines.fill { room throws(Errno) in try input?.read(into: room) ?? 0 }
      if count == 0 { lose(hello == nil ? wordless : "its stream ended") }
      wasRead = count > 0
      return wasRead
    } catch .wouldBlock {
      return false
    } catch {
      lose("its stream could not be read: \(error)")
      return false
    }
  }

  func send(to link: WorkerLink) {
    guard loss == nil, !waiting.contains(where: { $0 === link }) else { return }
    waiting.append(link)
    flush()
  }

  /// Sends what the stream takes. There may be room for more after each time that it took all.
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
        try watch.add(raw, .site(number), Place.orders, for: .writable)
      } else {
        try watch.remove(raw)
      }
    } catch {
      // The agent sees that, and ends the other direction.
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

  /// What is known of a machine of which nothing was heard but perhaps words of others.
  private var wordless: String {
    transport?.end()
    let end = transport?.exitCode.map { " with exit \($0)" } ?? ""
    return "the command that leads there ended\(end) before an agent answered"
  }

  // MARK: - Going

  /// Closes both directions, so that the agent sees it too.
  func lose(_ complaint: String) {
    if loss != nil { return }
    close()
    loss = Loss(
      complaint: complaint, untold: workers.values.sorted { $0.id.rawValue > $1.id.rawValue })
    workers.removeAll()
    waiting.removeAll()
    outbox.removeAll()
    sent = 0
  }

  private func close() {
    // What cannot be removed leaves the watch when it is closed.
    if let raw = input?.rawValue { try? watch.remove(raw) }
    if awaitsRoom, let raw = output?.rawValue { try? watch.remove(raw) }
    awaitsRoom = false
    input = nil
    output = nil
  }

  func end(_ link: WorkerLink, at now: Instant) -> Instant {
    // Until it is decided what became of all of them.
    if loss != nil { return Instant(nanoseconds: .max) }
    waiting.removeAll { $0 === link }
    link.outbox.removeAll()
    // Beyond what else may be unsent: there is one for each worker at most.
    RelayLines.kill(link.id, into: &outbox)
    flush()
    return now.advanced(byMilliseconds: Self.killPatienceMilliseconds)
  }

  /// After a loss the agent has ended it by now.
  func giveUp(_ link: WorkerLink) -> [String] {
    loss == nil ? ["worker number \(link.id.rawValue) of \(name) could not be ended"] : []
  }

  /// No service on another machine goes on when a drive has ended.
  func release(_ link: WorkerLink) {}
  func regain(_ link: WorkerLink) {}

  func endAll() { close() }

  func cleanUp() { close() }

  /// No more work: the agent is to end its workers and to leave.
  func dismiss() {
    if loss != nil || isDismissed { return }
    isDismissed = true
    RelayLines.bye(into: &outbox)
    flush()
  }

  /// Whether nothing is left of what carried the stream.
  var isOver: Bool { loss != nil && transport?.end() ?? true }

  /// Has the agent, whose stream is lost, ended by a command.
  func endAgent(_ words: [String], complaints: ComplaintFile, at now: Instant) {
    guard let killer = SiteKiller(words, complaints: complaints, at: now) else { return }
    self.killer = killer
    // It is looked at again by its deadline where that fails.
    try? watch.add(killer.process.rawDescriptor, .site(number), Place.killer)
  }

  /// Until when that command is waited for; nil for no longer.
  var killerDeadline: Instant? { killer?.deadline }

  /// Ends what carries the stream, by force.
  func killTransport() { transport?.end() }

  /// The beginnings of the output before the agent's hello and of standard error; empty for none.
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
