internal import OpflowBase
internal import OpflowJournal
internal import OpflowManifest
internal import OpflowPlan
internal import OpflowRuntime
internal import OpflowSystem
internal import OpflowWire

/// Joins the live run of a queue, resumes one that has not ended, or starts one. The coordinator is
/// a detached process, not visible as a child. It gets one end of a socket pair, and so notices the
/// client's death at any time.
struct ServerStart {
  private let setting: ServerSetting
  /// The only acceptable run, if any.
  private let run: RunFolder?
  private let inbox: QueueInbox

  init(_ setting: ServerSetting, _ inbox: QueueInbox, run: RunFolder? = nil) {
    self.setting = setting
    self.inbox = inbox
    self.run = run
  }

  enum Found {
    case live(ClientLink, RunFolder)
    case ended(RunFolder)
  }

  private static let mostTries = 50
  /// Nanoseconds.
  private static let interval: Int64 = 20_000_000
  private static let connectTimeout = Duration.seconds(10)
  /// A live coordinator answers at once.
  private static let longestGreeting: Int64 = 30_000_000_000
  /// A new coordinator first reads plan and journal.
  private static let longestStart: Int64 = 120_000_000_000
  static let cancelled = QueueError(
    .waitCancelled, "the task that waited for the queue was cancelled, or the queue was released")

  func open() throws(QueueError) -> Found {
    try prepareFolder()
    var silentEnds = 0
    var tries = 0
    while tries < Self.mostTries {
      tries += 1
      guard let known = try named(run) else {
        if let found = try start(nil, &silentEnds) { return found }
        continue
      }
      if try isHeld(known) {
        switch try connect(known) {
        case .welcome(let link): return .live(link, known)
        case .gone: break
        // The coordinator waits for the end of its tasks.
        case .leaving: tries = 0
        case .refused(let detail):
          throw QueueError(
            .opflow, "the opflow process of the run does not support this library: \(detail)")
        }
      } else {
        let history = try history(of: known)
        if run != nil, history.close != nil { return .ended(known) }
        // A closed run is finished only if it is this queue's.
        let goesOn = run != nil || history.openness == .open
        if !goesOn, history.close == nil, try isWanted(known) {
          // The queue that uses the run continues it.
          tries = 0
        } else if let found = try start(goesOn ? known : nil, &silentEnds) {
          return found
        }
      }
      var nothing = PollSet(slots: 1)
      _ = try wait(&nothing, leaving: 0, nanoseconds: Self.interval)
    }
    throw QueueError(
      .held,
      "cannot join the queue \(setting.name): another process starts and ends it again and again")
  }

  /// With an empty plan if the run's own is damaged, since only facts about the run are needed.
  private func history(of run: RunFolder) throws(QueueError) -> RunModel {
    let plan = if let plan = try? run.openPlan() { plan } else { try planWithoutTasks(run) }
    return try reading(run.readHistory(plan: plan).history)
  }

  private func planWithoutTasks(_ run: RunFolder) throws(QueueError) -> Plan {
    try rethrowing(
      ManifestFile.none(named: setting.name).compile(
        runID: run.id.description, set: [], maxParallel: nil
      ).openPlan()
    ) { QueueError($0, composed: ManifestText([])) }
  }

  private func named(_ known: RunFolder?) throws(QueueError) -> RunFolder? {
    if let known { return known }
    guard setting.state.isThere else { return nil }
    return try reading(setting.state.run(named: setting.name))
  }

  private func isHeld(_ folder: RunFolder) throws(QueueError) -> Bool {
    try reading(RunFolderLock.isHeld(folder))
  }

  private func isWanted(_ folder: RunFolder) throws(QueueError) -> Bool {
    try reading(ClientsLock.isHeld(folder))
  }

  private func prepareFolder() throws(QueueError) {
    _ = try rethrowing(Path.makeDirectories(setting.stateFolder, mode: 0o700)) {
      QueueError(.io, "cannot make \(setting.stateFolder): \($0)")
    }
  }

  // MARK: - A live run

  private func connect(_ folder: RunFolder) throws(QueueError) -> Greeting {
    guard let link = try Self.link(to: folder) else { return .gone }
    guard let greeting = try greet(link, atMost: Self.longestGreeting) else {
      let holder = RunFolderLock.holder(folder).map { " (pid \($0.pid))" } ?? ""
      throw QueueError(
        .held,
        "the opflow process of run \(folder.id)\(holder) does not answer: it is stopped"
          + " (`kill -CONT` continues it), or the machine is overloaded")
    }
    return greeting
  }

  /// Nil if no process listens.
  static func link(to folder: RunFolder) throws(QueueError) -> ClientLink? {
    do throws(Errno) {
      let at = try File.open(folder.path, [.readOnly, .directory])
      return try ClientLink(
        try UnixSocket.connect(to: ControlConnection.socketName, in: at, timeout: connectTimeout))
    } catch .noSuchFile {
      return nil
    } catch .connectionRefused {
      return nil
    } catch {
      throw QueueError(.io, "cannot send a request to run \(folder.id): \(error)")
    }
  }

  private enum Greeting {
    case welcome(ClientLink)
    /// The coordinator is starting or exiting.
    case gone
    case leaving
    case refused(detail: String)
  }

  /// Nil after the timeout.
  private func greet(_ link: ClientLink, atMost nanoseconds: Int64) throws(QueueError) -> Greeting?
  {
    let id = RequestID.new()
    link.send(RequestLines.line(ClientHello(id: id, afterClient: setting.goesOn ? .goOn : .stop)))
    let end = Clock.monotonicNanoseconds + nanoseconds
    var poll = PollSet(slots: 2)
    var answer: RequestAnswer?
    while answer == nil, !link.hasEnded {
      poll.set(0, link.rawDescriptor, for: link.wantsToWrite ? [.readable, .writable] : .readable)
      let rest = max(0, end - Clock.monotonicNanoseconds)
      if try !wait(&poll, leaving: 1, nanoseconds: rest) { return nil }
      if link.wantsToWrite { link.flush() }
      link.receive { line in
        if let (answered, found) = RequestLines.answer(line), answered == id || answered == nil {
          answer = found
        }
      }
    }
    switch answer {
    case .done: return .welcome(link)
    case .refused(ClientHello.leaving): return .leaving
    case .refused(let detail): return .refused(detail: CleanText.string(detail))
    case nil: return .gone
    }
  }

  private func wait(
    _ poll: inout PollSet, leaving slot: Int, nanoseconds: Int64
  ) throws(QueueError) -> Bool {
    poll.set(slot, inbox.leavingDescriptor)
    let isReady = try rethrowing(poll.wait(nanoseconds: nanoseconds)) {
      QueueError(.io, "cannot wait for opflow: \($0)")
    }
    if poll.isReady(slot) { throw Self.cancelled }
    return isReady
  }

  // MARK: - A new coordinator

  private var logPath: String { "\(setting.stateFolder)/\(setting.name).serve.log" }
  private static let mostLogBytes: Int64 = 1 << 20

  /// Nil if another process was faster or the coordinator was killed: look again.
  private func start(_ folder: RunFolder?, _ silentEnds: inout Int) throws(QueueError) -> Found? {
    let log = try system("write \(logPath)", openLog())
    let pair = try system("make a socket", UnixSocket.Pair())
    let null = try system("open /dev/null", File.openNull())
    try rethrowing(
      Program.startDetached(
        words(folder), input: null.rawValue, output: log.descriptor.rawValue,
        error: log.descriptor.rawValue, kept: pair.second.rawValue)
    ) { QueueError(.opflow, "cannot start \(setting.program): \($0)") }
    let link = try link(pair.takeFirst())
    var complaint = ""
    switch try greet(link, atMost: Self.longestStart) {
    case .welcome:
      // The coordinator holds the run's lock and name.
      guard let found = try named(folder) else { return nil }
      return .live(link, found)
    case .refused(let detail): complaint = detail
    case .gone, .leaving: break
    case nil:
      throw QueueError(
        .opflow,
        "\(setting.program) was started but does not answer: it is stopped, or the machine is"
          + " overloaded")
    }
    // The coordinator ended early.
    if let other = try named(folder), try isHeld(other) { return nil }
    // The run was being stopped.
    if run != nil, let folder, try history(of: folder).close != nil { return nil }
    // The log is complete unless the disk is full.
    if let written = complaints(from: log.start) { complaint = written }
    // Keep trying to continue an existing run: the cause may be gone, or concern another program's
    // start.
    if complaint.isEmpty || run != nil, silentEnds < Self.mostSilentEnds {
      silentEnds += 1
      return nil
    }
    if let folder, complaint.isEmpty { throw Self.died(folder, silentEnds + 1) }
    throw QueueError(
      .opflow,
      complaint.isEmpty
        ? "\(setting.program) ended before it accepted requests and gave no reason" : complaint)
  }

  static func died(_ folder: RunFolder, _ times: Int) -> QueueError {
    QueueError(
      .ended,
      "run \(folder.id) died \(times) times in a row: its opflow process is gone and recorded no"
        + " end; to continue: opflow resume \(folder.id)")
  }

  private func link(_ end: consuming Descriptor) throws(QueueError) -> ClientLink {
    do throws(Errno) {
      return try ClientLink(end)
    } catch {
      throw QueueError(.io, "cannot use a socket: \(error)")
    }
  }

  private func openLog() throws(Errno) -> LogPlace {
    let log = try File.openRegular(logPath, [.writeOnly, .create, .append])
    if try log.status().sizeBytes > Self.mostLogBytes { try log.truncate(to: 0) }
    let start = try log.status().sizeBytes
    return LogPlace(descriptor: log, start: start)
  }

  private struct LogPlace: ~Copyable {
    let descriptor: Descriptor
    let start: Int64
  }

  private func system<Result: ~Copyable>(
    _ detail: String, _ body: @autoclosure () throws(Errno) -> Result
  ) throws(QueueError) -> Result {
    try rethrowing(body()) { QueueError(.io, "cannot \(detail): \($0)") }
  }

  private func words(_ folder: RunFolder?) -> [String] {
    var words = [setting.program]
    if let folder {
      words += ["resume", "--for-queue", folder.id.description]
    } else {
      words += ["serve", "--name", setting.name]
    }
    words += ["--state-dir", setting.stateFolder, "-q", "--control-fd", "3"]
    if let most = setting.maxConcurrent { words += ["-j", "\(most)"] }
    return words
  }

  /// A coordinator that ends without a message was probably killed.
  private static let mostSilentEnds = 5

  private static func read(_ path: String, from start: Int64) throws(Errno) -> [UInt8] {
    let file = try File.openRegular(path, .readOnly)
    try file.seek(to: start)
    return try file.readAll(atMost: Int(mostLogBytes))
  }

  private func complaints(from start: Int64) -> String? {
    let bytes = try? Self.read(logPath, from: start)
    var text = String(decoding: bytes ?? [], as: UTF8.self)
    while text.last?.isNewline == true { text.removeLast() }
    if text.hasPrefix("opflow: ") { text.removeFirst(8) }
    return text.isEmpty ? nil : text
  }
}

func reading<Result: ~Copyable>(
  _ body: @autoclosure () throws(RunFolderError) -> Result
) throws(QueueError) -> Result {
  try rethrowing(body()) { QueueError($0) }
}

struct ServerSetting: Sendable {
  let name: String
  let stateFolder: String
  /// The base of relative paths of tasks.
  let workingFolder: String
  /// Nil for the number of CPUs.
  var maxConcurrent: Int?
  let goesOn: Bool
  let program: String

  var state: StateFolder { StateFolder(path: stateFolder) }

  init(
    name: String, folder: String, maxConcurrent: Int?, goesOn: Bool, opflow: String?
  ) throws(QueueError) {
    guard RunName.isValid(name) else {
      throw QueueError(
        .usage,
        "`\(name.prefix(RunName.mostBytes))` is not a valid queue name; a name has \(RunName.rule)")
    }
    guard !folder.isEmpty, !folder.utf8.contains(0) else {
      throw QueueError(
        .usage, "the folder of a queue must not be empty or contain a NUL; the default is .opflow")
    }
    if let maxConcurrent, !(1...1_000_000).contains(maxConcurrent) {
      throw QueueError(
        .usage, "maxConcurrent must be from 1 to 1000000, not \(maxConcurrent)")
    }
    workingFolder = try rethrowing(Path.workingDirectory()) {
      QueueError(.io, "cannot work in this folder: \($0)")
    }
    self.name = name
    stateFolder = Self.absolute(folder, from: workingFolder)
    self.maxConcurrent = maxConcurrent
    self.goesOn = goesOn
    program = try Self.find(opflow, from: workingFolder)
  }

  private static func absolute(_ path: String, from folder: String) -> String {
    if let real = try? Path.real(path) { return real }
    return path.hasPrefix("/") ? path : "\(folder)/\(path)"
  }

  private static func find(_ given: String?, from folder: String) throws(QueueError) -> String {
    if let given {
      guard !given.utf8.contains(0) else {
        throw QueueError(.opflow, "the path of opflow contains a NUL: \(given)")
      }
      let path = given.contains("/") ? absolute(given, from: folder) : inPath(given)
      if let path, Path.exists(path) { return path }
      throw QueueError(
        .opflow,
        given.contains("/") ? "there is no program \(given)" : "`\(given)` not found in PATH")
    }
    if let own = try? Path.linkTarget("/proc/self/exe") {
      let beside = "\(Path.parent(of: own))/opflow"
      if Path.exists(beside) { return beside }
    }
    if let found = inPath("opflow") { return found }
    throw QueueError(
      .opflow,
      "`opflow` not found next to this program or in PATH; name it: `TaskQueue(…, opflow: PATH)`")
  }

  private static func inPath(_ name: String) -> String? {
    let folders = (Environment.value("PATH") ?? "/usr/bin:/bin").split(
      separator: ":", omittingEmptySubsequences: false)
    return folders.lazy.map { $0.isEmpty ? "./\(name)" : "\($0)/\(name)" }.first {
      Path.exists($0) && !Path.isDirectory($0)
    }
  }
}

extension QueueError {
  init(_ error: RunFolderError) {
    let kind: Kind =
      switch error {
      case .file: .io
      case .journal, .plan: .journal
      case .held, .heldElsewhere, .live, .beginning, .aroundItself: .held
      case .foreign, .foreignManifest, .link, .removed, .noRuns, .noSuchRun, .ambiguous: .usage
      }
    self.init(kind, error.message)
  }

  /// `composed` is the manifest if the library wrote it.
  init(_ error: PreparationError, composed: ManifestText?) {
    switch error {
    case .unreadable(let path, let errno):
      self.init(.io, "cannot read \(CleanText.string(path)): \(errno)")
    case .diagnostics(let diagnostics):
      self.init(
        .manifest,
        composed?.text(diagnostics) ?? DiagnosticRenderer(isColored: false).render(diagnostics))
    case .folder(let error): self.init(error)
    case .unsoundPlan(let error):
      self.init(.journal, "bug in opflow: the compiled plan is invalid: \(error.message)")
    case .noSuchTask, .selection, .unfitAddition, .noInstanceSource, .noProcesses, .secrets,
      .secretSet,
      .secretOn, .secretNamed, .noDescriptors, .noMemoryLimits, .noTerminal, .workersElsewhere,
      .noController, .noProgram, .survivors, .taskAround, .tooFewDevices:
      self.init(.usage, "cannot add the tasks: \(error)")
    }
  }
}
