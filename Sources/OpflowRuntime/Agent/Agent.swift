internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire
internal import OpflowWorker

/// The agent of a node: starts and ends workers and relays their lines for the coordinator.
///
/// States
/// ------
///
///     waiting ──> serving ──> leaving ──> gone
///        └───────────────────────^
///
/// - *waiting*: until `open` arrives and the run's folder appears on this machine.
/// - *serving*: until the heartbeat timeout, `bye`, end-of-file, SIGTERM or a malformed line. The
///   agent ignores later input.
/// - *leaving*: no worker starts. Each worker sees end-of-file, gives its tasks at most half a
///   second, and is then killed. When no process is left, the agent sends `bye` if it can, and is
///   *gone*.
///
/// The agent never waits for the coordinator to read. Beyond a limit of unsent bytes it stops
/// reading from workers, but still handles requests and the heartbeat.
final class Agent {
  private enum Phase {
    case waiting
    case serving
    case leaving(killAt: Instant)
  }

  private enum Slot {
    static let messages = 0, signals = 1, reports = 2, workers = 3
    static let count = 4
  }

  private static let mostUnsentBytes = 65_536
  private static let mostReadBytes = 16_384
  /// The time from a worker's end-of-file to SIGKILL: its tasks' grace and a margin.
  private static let graceMilliseconds: Int64 = 700
  private static let farewellMilliseconds: Int64 = 1_000
  /// A transport may be up without a coordinator behind it.
  private static let openMilliseconds: Int64 = 60_000

  private let messages: Descriptor
  private let reports: Descriptor
  private let signals: SignalDescriptor
  private var poll = PollSet(slots: Slot.count)
  private let workerWatch: EventLoop

  private var phase = Phase.waiting
  private var input = LineBuffer(
    longestLineBytes: RelayLines.longestLineBytes, bytes: Agent.mostReadBytes)
  private var aside = LineBuffer()
  private var output = FieldWriter()
  private var sentBytes = 0
  private var doubt = AgentDoubt()
  private let endsJob: Bool
  private var isDismissed = false
  /// The stream cannot be written.
  private var isUnheard = false
  private var hasFailed = false

  private let openBy: Instant
  private var opening: OpeningReader?
  private var variables: [String] = []
  private var arguments = AgentArguments()
  private var lease: AgentLease?
  private var launcher: LocalLauncher?
  private var links: [WorkerID: WorkerLink] = [:]
  private var ending: [WorkerLink] = []
  private var unsent: [WorkerLink] = []

  init(endsJob: Bool) throws(Errno) {
    self.endsJob = endsJob
    try StandardStream.openClosed()
    Dispositions.resetAll()
    try Dispositions.ignore(.pipe)
    try SignalSet.all.block()
    try MappedFile.exitOnBusError()
    try ProcessTree.becomeSubreaper()
    messages = try StandardStream.input.duplicate()
    reports = try StandardStream.output.duplicate()
    try messages.setNonblocking(true)
    try reports.setNonblocking(true)
    // Keeps this process's stray output out of the stream.
    let nothing = try File.openNull()
    try StandardStream.input.redirect(to: nothing)
    try StandardStream.output.redirect(to: .error)
    signals = try SignalDescriptor([.terminate, .interrupt, .hangup])
    workerWatch = try EventLoop()
    openBy = Self.now.advanced(byMilliseconds: Self.openMilliseconds)
    poll.set(Slot.messages, messages.rawValue)
    poll.set(Slot.signals, signals.rawValue)
    poll.set(Slot.workers, workerWatch.rawDescriptor)
  }

  /// CLOCK_BOOTTIME, so that the heartbeat timeout also runs while the machine sleeps.
  private static var now: Instant { Instant(nanoseconds: Clock.bootNanoseconds) }

  /// Returns false if the agent could not work for the run.
  func work() throws(Errno) -> Bool {
    while !isGone {
      _ = try poll.wait(nanoseconds: timeout)
      let now = Self.now
      // Timers first: after a long stop, the heartbeat timeout must precede all other events.
      passTime(now)
      if poll.isReady(Slot.signals) { try takeSignals(now) }
      if poll.isReady(Slot.messages) { readMessages(now) }
      if poll.isReady(Slot.workers) { try hearWorkers(now) }
      sendMessages()
      flush()
    }
    launcher?.cleanUp()
    sayFarewell()
    endAbandonedJob()
    return !hasFailed
  }

  private var isGone: Bool {
    if case .leaving = phase { links.isEmpty } else { false }
  }

  // MARK: - Time

  private var timeout: Int64 {
    var next: [Instant] = ending.map(\.giveUpAt)
    switch phase {
    case .waiting: next.append(opening?.nextLook ?? openBy)
    case .serving:
      if let lease { next += [lease.end, lease.nextPulse] }
      if let end = doubt.end { next.append(end) }
    case .leaving(let killAt): if ending.count < links.count { next.append(killAt) }
    }
    guard let first = next.min() else { return -1 }
    return max(0, first.nanoseconds - Self.now.nanoseconds)
  }

  private func passTime(_ now: Instant) {
    switch phase {
    case .waiting:
      if let opening {
        if opening.nextLook <= now { lookForPlan(opening, now) }
      } else if openBy <= now {
        fail("the coordinator named no run", now)
      }
    case .serving:
      guard var lease else { break }
      if lease.end <= now {
        let why = "the coordinator sent nothing within the heartbeat timeout"
        AgentMain.complain("\(why); ending all workers")
        leave(saying: why, now)
        break
      }
      if let end = doubt.end, end <= now { doubt.release(into: &output) }
      if let number = lease.pulse(at: now) { RelayLines.pulse(number, into: &output) }
      self.lease = lease
    case .leaving(let killAt):
      guard killAt <= now else { break }
      for link in links.values { end(link, complaint: nil, now) }
    }
    for link in ending where link.giveUpAt <= now {
      for warning in launcher?.giveUp(link) ?? [] { AgentMain.complain(warning) }
      forget(link, complaint: nil)
    }
  }

  // MARK: - Requests

  private func takeSignals(_ now: Instant) throws(Errno) {
    while let (signal, _) = try signals.next() {
      leave(saying: "its agent received \(SignalName.spelled(signal.rawValue))", now)
    }
  }

  private func readMessages(_ now: Instant) {
    do throws(Errno) {
      let count = try input.fill { room throws(Errno) in try messages.read(into: room) }
      if count == 0 { return endOfMessages(now) }
    } catch .wouldBlock {
      return
    } catch {
      return endOfMessages(now)
    }
    while true {
      switch input.nextAgentMessage(into: &aside) {
      case .message(let message):
        if !apply(message, now) { return fail("the coordinator sent an unexpected message", now) }
      case .needsMore: return
      case .malformed: return fail("the coordinator sent an invalid line", now)
      }
    }
  }

  private func endOfMessages(_ now: Instant) {
    poll.clear(Slot.messages)
    leave(saying: nil, now)
  }

  private func apply(_ message: AgentMessage, _ now: Instant) -> Bool {
    switch message {
    case .open(let opening):
      guard case .waiting = phase, self.opening == nil else { return false }
      guard opening.version == AgentOpening.currentVersion else {
        fail(
          "the run uses version \(opening.version) of the agent protocol, the opflow of this node"
            + " version \(AgentOpening.currentVersion); install the same opflow on all nodes", now)
        return true
      }
      let look = OpeningReader(opening, from: now)
      self.opening = look
      // A launch may follow in the same read.
      lookForPlan(look, now)
    case .variable(let entry): variables.append(entry)
    case .arguments(let task, let count): return arguments.begin(task, count: count)
    case .argument(let number, let bytes): return arguments.add(bytes, to: number)
    case .launch(let worker, let kind): launch(worker, kind)
    case .kill(let worker):
      // The report that a missing worker is gone is on its way.
      if let link = links[worker] { end(link, complaint: nil, now) }
    case .line(let worker):
      if let link = links[worker], case .talking = link.state {
        aside.moveAll(to: &link.outbox)
        list(link)
      }
    case .pulse(let number): lease?.answered(number)
    case .bye:
      isDismissed = true
      leave(saying: nil, now)
    }
    return true
  }

  // MARK: - Opening

  private func lookForPlan(_ opening: OpeningReader, _ now: Instant) {
    switch opening.look(at: now) {
    case .notYet: self.opening?.lookAgain(after: now)
    case .unusable(let detail): fail(detail, now)
    case .found(let folder):
      lease = AgentLease(milliseconds: opening.opening.leaseMilliseconds, from: now)
      phase = .serving
      self.folder = folder
      if endsJob, let job = Environment.value("SLURM_JOB_ID").flatMap({ Int64($0) }), job > 0 {
        ownJob = AbandonedJob(job: job, runFolder: folder)
      }
      RelayLines.hello(AgentMachine().hello(planKey: opening.opening.planKey), into: &output)
    }
  }

  private var folder: RunFolder?
  private var ownJob: AbandonedJob?

  private func fail(_ detail: String, _ now: Instant) {
    hasFailed = true
    AgentMain.complain(detail)
    guard case .waiting = phase else { return leave(saying: detail, now) }
    RelayLines.refused(detail, into: &output)
    leave(saying: nil, now)
  }

  // MARK: - Workers

  private func launch(_ worker: WorkerID, _ kind: WorkerKind) {
    guard case .serving = phase, links[worker] == nil else { return }
    do throws(LaunchFailure) {
      let link = try readyLauncher().launch(worker, kind)
      links[worker] = link
    } catch {
      RelayLines.gone(worker, complaint: error.detail, into: &output)
    }
  }

  /// Uses the variables and arguments received so far.
  private func readyLauncher() throws(LaunchFailure) -> LocalLauncher {
    if let launcher { return launcher }
    guard let folder, let opening else {
      throw LaunchFailure(detail: "the coordinator named no run")
    }
    do throws(Errno) {
      let launcher = try LocalLauncher(
        node: 0, watch: workerWatch, folder: folder, runID: opening.opening.run,
        complaints: folder.workerLog(of: AgentMachine().host), variables: variables,
        arguments: arguments.whole)
      self.launcher = launcher
      return launcher
    } catch {
      throw LaunchFailure(detail: "cannot start workers for \(folder.path): \(error)")
    }
  }

  private func hearWorkers(_ now: Instant) throws(Errno) {
    guard let launcher else { return }
    var events: [PollEvent] = []
    try workerWatch.wait(timeout: .zero, into: &events)
    for event in events {
      while let news = launcher.next(at: event.place) {
        switch news {
        case .spoke(let link): relay(link, now)
        case .silent(let link, let complaint): end(link, complaint: complaint, now)
        case .gone(let link, let complaint, let warnings, let survivors):
          for warning in warnings { AgentMain.complain(warning) }
          if let survivors {
            note(survivors, of: link)
            RelayLines.survived(link.id, survivors, into: &output)
          }
          forget(link, complaint: complaint)
        // Only relays report these events.
        case .joined, .heard, .leaving, .lost: break
        }
      }
    }
  }

  /// The message about survivors may have no reader.
  private func note(_ survivors: LeftBehind, of link: WorkerLink) {
    guard let folder, let worker = link.entry else { return }
    do throws(Errno) {
      try SurvivorFiles.add(
        SurvivorNote(task: .none, attempt: 0, worker: worker, left: survivors), in: folder.path)
    } catch {
      AgentMain.complain("cannot record process \(survivors.names): \(error)")
    }
  }

  private func relay(_ link: WorkerLink, _ now: Instant) {
    while case .talking = link.state {
      let start = output.bytes.count
      switch link.inbox.lines.nextLine(of: link.id, into: &output) {
      case .message(let isBadEnd): keep(from: start, isBad: isBadEnd, now)
      case .needsMore: return
      case .malformed: end(link, complaint: "it sent a line that is too long", now)
      }
    }
  }

  private func list(_ link: WorkerLink) {
    if link.isListed { return }
    link.isListed = true
    unsent.append(link)
  }

  private func sendMessages() {
    for link in unsent {
      link.isListed = false
      guard case .talking = link.state else { continue }
      do throws(Errno) {
        try launcher?.send(to: link)
      } catch {
        end(link, complaint: WorkerLink.unsendable(error), Self.now)
      }
    }
    unsent.removeAll(keepingCapacity: true)
  }

  private func end(_ link: WorkerLink, complaint: String?, _ now: Instant) {
    guard case .talking = link.state, let launcher else { return }
    link.state = .ending(complaint: complaint)
    link.giveUpAt = launcher.end(link, at: now)
    ending.append(link)
  }

  private func forget(_ link: WorkerLink, complaint: String?) {
    guard links.removeValue(forKey: link.id) === link else { return }
    ending.removeAll { $0 === link }
    var known: String?
    if case .ending(let complaint) = link.state { known = complaint }
    // While the agent leaves, the end of a worker is not an error.
    if case .leaving = phase { return RelayLines.gone(link.id, complaint: nil, into: &output) }
    let start = output.bytes.count
    RelayLines.gone(link.id, complaint: known ?? complaint, into: &output)
    keep(from: start, isBad: (known ?? complaint) != nil, Self.now)
  }

  /// Delays output whose cause may be a signal that this agent has not read yet.
  private func keep(from start: Int, isBad: Bool, _ now: Instant) {
    if case .serving = phase { doubt.take(from: start, of: &output, isBad: isBad, at: now) }
  }

  // MARK: - Leaving

  private func leave(saying reason: String?, _ now: Instant) {
    if case .leaving = phase { return }
    phase = .leaving(killAt: now.advanced(byMilliseconds: Self.graceMilliseconds))
    if let reason { RelayLines.leaving(reason, into: &output) }
    doubt.release(into: &output)
    for link in links.values { launcher?.hangUp(link) }
  }

  private func endAbandonedJob() {
    guard !isDismissed, let lease else { return }
    ownJob?.end(after: lease.end) { Self.now }
  }

  private func sayFarewell() {
    RelayLines.bye(into: &output)
    let deadline = Self.now.advanced(byMilliseconds: Self.farewellMilliseconds)
    var room = PollSet(slots: 1)
    room.set(0, reports.rawValue, for: .writable)
    while true {
      flush()
      let left = deadline.nanoseconds - Self.now.nanoseconds
      guard !output.isEmpty, !isUnheard, left > 0 else { return }
      guard (try? room.wait(nanoseconds: left)) == true else { return }
    }
  }

  // MARK: - The stream

  private func flush() {
    do throws(Errno) {
      if !isUnheard { try reports.write(output.bytes, behind: &sentBytes) }
      output.removeAll()
      sentBytes = 0
    } catch .wouldBlock {
    } catch {
      // End-of-file or the heartbeat timeout follows.
      isUnheard = true
      output.removeAll()
      sentBytes = 0
    }
    let waits = !output.isEmpty
    poll.set(Slot.reports, waits ? reports.rawValue : -1, for: .writable)
    let isFull = output.bytes.count - sentBytes > Self.mostUnsentBytes
    poll.set(Slot.workers, isFull ? -1 : workerWatch.rawDescriptor)
  }
}

/// The arguments of one task, which arrive in pieces.
struct AgentArguments {
  private var task: TaskID?
  private var words: [[UInt8]] = []
  private var byteCount = 0

  /// The kernel's limit (execve(2), "Limits on size of arguments").
  private static let mostBytes = 6 << 20

  var whole: TaskArguments? {
    task.map {
      TaskArguments(task: $0, words: words.map { String(decoding: $0, as: UTF8.self) })
    }
  }

  mutating func begin(_ task: TaskID, count: Int) -> Bool {
    guard self.task == nil, count <= Self.mostBytes else { return false }
    self.task = task
    words = Array(repeating: [], count: count)
    return true
  }

  mutating func add(_ bytes: [UInt8], to number: Int) -> Bool {
    guard words.indices.contains(number), byteCount + bytes.count <= Self.mostBytes else {
      return false
    }
    byteCount += bytes.count
    words[number] += bytes
    return true
  }
}

/// Delays a report of a bad end, and all later output, for a moment in a Slurm step. Slurm ends a
/// step (cancelled, preempted, out of time) by SIGTERM to each process in turn. An agent that is
/// signaled last must report first that it is leaving, or the tasks would fail.
struct AgentDoubt {
  private let isStep: Bool
  private var held = FieldWriter()
  private(set) var end: Instant?

  init(isStep: Bool = Environment.value("SLURM_STEP_ID") != nil) { self.isStep = isStep }

  /// Far longer than Slurm needs to signal all processes.
  private static let milliseconds: Int64 = 250

  mutating func take(from start: Int, of output: inout FieldWriter, isBad: Bool, at now: Instant) {
    guard isStep, isBad || end != nil else { return }
    if end == nil { end = now.advanced(byMilliseconds: Self.milliseconds) }
    output.moveEnd(from: start, to: &held)
  }

  mutating func release(into output: inout FieldWriter) {
    output.append(held)
    held.removeAll()
    end = nil
  }
}

/// Waits for the run's folder, which a network file system may show seconds late.
struct OpeningReader {
  enum Finding {
    case found(RunFolder)
    case notYet
    case unusable(String)
  }

  let opening: AgentOpening
  private let until: Instant
  private(set) var nextLook: Instant

  private static let intervalMilliseconds: Int64 = 100

  init(_ opening: AgentOpening, from now: Instant) {
    self.opening = opening
    until = now.advanced(byMilliseconds: opening.leaseMilliseconds)
    nextLook = now
  }

  mutating func lookAgain(after now: Instant) {
    nextLook = now.advanced(byMilliseconds: Self.intervalMilliseconds)
  }

  func look(at now: Instant) -> Finding {
    guard let id = RunID(opening.run) else { return .unusable("`\(opening.run)` is not a run ID") }
    let folder = RunFolder(id: id, path: opening.folder)
    do throws(RunFolderError) {
      // Listing a folder makes a network file system drop cached names.
      _ = try doing("read", folder.path, Path.names(in: folder.path))
      let plan = try folder.mapPlan()
      if plan.key.description == opening.planKey { return .found(folder) }
      return now < until
        ? .notYet : .unusable("\(folder.plan) is not the plan of the run: its key is \(plan.key)")
    } catch .plan(_, let error) {
      return .unusable("cannot use the plan \(folder.plan): \(error.message)")
    } catch .file(_, _, let error) where now >= until {
      return .unusable(
        "cannot use the run's folder \(folder.path) on this node: \(error); put it on a file system"
          + " that all nodes share")
    } catch {
      return .notYet
    }
  }
}
