internal import OpflowBase
package import OpflowEngine
internal import OpflowJournal
package import OpflowPlan
package import OpflowSystem
internal import OpflowViews
internal import OpflowWire

/// An error that ends a session and that its journal cannot record.
package struct CoordinatorError: Error, Sendable {
  package let detail: String
  package let errno: Errno

  init(_ detail: String, _ errno: Errno) {
    self.detail = detail
    self.errno = errno
  }

  init(_ error: RunFolderError) {
    if case .file(let doing, let path, let errno) = error {
      self.init("cannot \(doing) \(path)", errno)
    } else {
      self.init(error.message, .ioError)
    }
  }
}

package struct SessionResult {
  package let exitCode: Int32
  package let stopSignal: Signal?
  /// The stop signal, if it came too late to affect the exit code.
  package var lateStop: Signal? { stopSignal.flatMap { exitCode == 128 + $0.rawValue ? nil : $0 } }
  /// Services that the next session takes over.
  let passed: [(HeldService, WorkerLink)]
  let plan: Plan
}

/// Runs a session in one thread. Each turn reads all events before it performs the engine's steps.
package final class Coordinator {
  let request: SessionRequest
  var plan: Plan
  let growing: GrowingPlan
  var unshownGrowths: [RunGrowth] = []
  var engine: Engine
  let watch: EventLoop
  let signals: SignalDescriptor
  var signalWait = PollSet(slots: 1)
  var journal: JournalFile
  var syncer: JournalSyncer?
  /// This machine's launcher, then one per stream to a node.
  var launchers: [any Launcher]
  var launcherOfNode = [0]
  /// nil if all tasks run on this machine.
  let nodes: Nodes?
  /// nil once the worker is gone.
  var links: [WorkerLink?] = []
  var ending: [WorkerLink] = []
  let display: SessionDisplay
  var downloads: DownloadNotes
  let make: MakeJobs?
  let control: ControlSocket
  lazy var masker = Masker(request.secrets)

  var watchedKeys: Int32 = -1
  var keyRequests: [RequestID: ClientRequest] = [:]

  var programs: [ClientID: ProgramLink] = [:]
  var slots: [WorkerID: ProgramLink] = [:]
  var unsentPrograms: [ProgramLink] = []
  /// The plan's earlier keys in this session.
  var formerKeys: Set<String> = []
  var unsent: [WorkerLink] = []
  var journalFailure: Errno?
  var claimLookedAt = Coordinator.now
  var hasLostClaim = false
  var failure: CoordinatorError?
  /// When to kill workers that got `bye`.
  var dismissalDeadline: Instant?
  /// The work is done; nodes are no longer contacted. The journal's end may not be synced.
  var isDismissed = false
  /// When to stop waiting for killed transports, which may never end.
  var nodesDeadline: Instant?
  /// Workers of services that outlive this session; their reports are not read.
  var passed: [WorkerLink] = []
  var closing: CloseEntry?
  var stopsAsked = 0
  var stopSignal: Signal?
  var kindsWithFewer: Set<WorkerKind> = []
  var shortKinds: Set<WorkerKind> = []
  var awaited: Set<TaskID> = []
  var lackRoom: Set<TaskID> = []
  var warned: Set<String> = []
  static let mostWarnings = 20
  var loan: TerminalLoan?
  var awakeAt = Coordinator.now
  /// The wall clock of this turn.
  var wall = Clock.wallMilliseconds

  /// The caller holds the run's lock. `journal` is open behind its last complete line; `watch`
  /// watches existing workers.
  static func session(
    _ request: SessionRequest, _ progress: ProgressOptions, _ heading: ProgressHeading,
    journal: consuming JournalFile, watch: EventLoop, launcher: any Launcher
  ) throws(CoordinatorError) -> SessionResult {
    let coordinator = try Coordinator(
      request, progress, heading, journal: journal, watch: watch, launcher: launcher)
    do throws(CoordinatorError) {
      return try coordinator.run()
    } catch {
      coordinator.endLoan()
      coordinator.control.close()
      coordinator.leaveMake()
      coordinator.display.giveUp()
      throw error
    }
  }

  private init(
    _ request: SessionRequest, _ progress: ProgressOptions, _ heading: ProgressHeading,
    journal: consuming JournalFile, watch: EventLoop, launcher: any Launcher
  ) throws(CoordinatorError) {
    self.request = request
    self.watch = watch
    launchers = [launcher]
    plan = request.plan
    growing = GrowingPlan(request.plan, in: request.folder, request.durability)
    links = request.links
    var options = request.options
    make = request.sharesJobs ? Self.joinMake(&options) : nil
    engine = Engine(
      plan: request.plan, options: options, resumeState: request.resumeState,
      journal: request.encoder, durability: request.durability, opening: request.opening)
    do throws(Errno) {
      // Orphans of a dead worker become children of this process, which ends them.
      try ProcessTree.becomeSubreaper()
      try Dispositions.ignore(.pipe)
      signals = try SignalDescriptor(Self.watchedSignals())
      try watch.add(signals.rawValue, .coordinator, Place.signals)
      control = ControlSocket(plan: request.plan, watch: watch)
      signalWait.set(0, signals.rawValue)
      nodes = try request.nodes.map { settings throws(Errno) in
        try Nodes(settings, at: Self.now)
      }
    } catch {
      throw CoordinatorError("cannot set up the run", error)
    }
    self.journal = journal
    do throws(Errno) {
      var heading = heading
      let capacities = request.options.capacities(of: request.plan)
      heading.parallel = capacities.first.map { Int64(clamping: $0) }
      heading.capacities = capacities
      heading.maxFailures = request.options.maxFailures
      heading.durations = request.resumeState.durations
      display = try SessionDisplay(request.folder, request.plan, progress, heading)
      try watch.add(display.rawDescriptor, .coordinator, Place.view)
    } catch {
      throw CoordinatorError("cannot set up the display of the run", error)
    }
    downloads = DownloadNotes(folder: request.folder, plan: request.plan)
    (launcher as? LocalLauncher)?.startedChildren = { [weak self] in self?.startedChildren ?? [] }
  }

  /// Takes all available tokens first, since a task may need several.
  private static func joinMake(_ options: inout SchedulerOptions) -> MakeJobs? {
    guard case .jobs(let make) = MakeJobs.find() else { return nil }
    let others = options.maxParallel - min(options.maxParallel, 1)
    options.processorsAway = others - UInt64(make.take(Int(clamping: others)))
    return make
  }

  private func run() throws(CoordinatorError) -> SessionResult {
    display.view.begin(atMilliseconds: wall)
    for warning in request.warnings { warn(warning) }
    if request.sharesJobs, make == nil, case .withheld = MakeJobs.find() {
      warn(
        "make does not share its jobs with opflow, so opflow runs up to"
          + " \(request.options.maxParallel) tasks at once; write + before the command in the"
          + " makefile, or give opflow `-j`")
    }
    if request.isResumed { request.folder.removeAwaited() }
    beginAllocations()
    engine.begin(at: Self.now, wall: wall)
    // New workers start up meanwhile. Existing ones would start tasks before the socket is open.
    if links.isEmpty { performSteps() }
    openControl()
    try makeUnread()
    var events: [PollEvent] = []
    while true {
      endTurn()
      if let failure { throw failure }
      if closing != nil, nodesAreOver, !links.contains(where: { $0 != nil }) { break }
      let wake = nextWake
      do throws(Errno) {
        try rest()
        try watch.wait(timeout: wake.map(Self.timeout), into: &events)
      } catch {
        throw CoordinatorError("cannot wait for events", error)
      }
      noteAwake(dueAt: wake)
      // Signals first: a signal to all processes of the run must precede reports of its effect.
      for event in events where event.isSignal { take(event) }
      for event in events where !event.isSignal { take(event) }
      takeRequests()
      if engine.isTimerDue(at: Self.now) { tell(.timer) }
      enforceDismissal()
      giveUpOnEnds()
      attendNodes()
    }
    return finish()
  }

  private func makeUnread() throws(CoordinatorError) {
    try rethrowing(request.folder.makeUnread()) { CoordinatorError($0) }
  }

  /// Lets reports accumulate while all workers are busy. Only signals end the wait.
  private func rest() throws(Errno) {
    let rest = engine.restNanoseconds
    guard rest > 0, unsent.isEmpty else { return }
    _ = try signalWait.wait(nanoseconds: rest)
  }

  static var now: Instant { Instant(nanoseconds: Clock.monotonicNanoseconds) }

  /// Tells the engine if this process slept longer than planned and did not hear workers.
  private func noteAwake(dueAt wake: Instant?) {
    let now = Self.now
    wall = Clock.wallMilliseconds
    let gap = now.nanoseconds - awakeAt.nanoseconds
    awakeAt = now
    guard let wake, gap > Self.lateNanoseconds,
      now.nanoseconds - wake.nanoseconds > Self.lateNanoseconds
    else { return }
    // Another machine may have taken the run over.
    claimLookedAt = Instant(nanoseconds: 0)
    keepClaim()
    tell(.late(nanoseconds: gap))
  }

  /// A shorter delay only means a busy machine.
  private static let lateNanoseconds: Int64 = 1_000_000_000

  private var nextWake: Instant? {
    let wakes = [
      engine.nextWake, display.nextWake, nodes?.nextWake, dismissalDeadline, nodesDeadline,
      nextGiveUp, request.serving?.nextLook, control.nextWake { Self.now },
    ].compactMap { $0 }
    return wakes.min()
  }

  private static func timeout(until wake: Instant) -> Duration {
    .nanoseconds(max(0, wake.nanoseconds - now.nanoseconds))
  }

  private func take(_ event: PollEvent) {
    switch event.owner {
    case .node(let number): hear(launchers[number], at: event.place)
    case .control: hearConnections(at: event.place)
    case .program: hearProgram(at: event.place)
    case .coordinator:
      switch event.place {
      case Place.signals: takeSignals()
      case Place.syncer: takeSync()
      case Place.view: display.takeNotice()
      case Place.keys: takeKeys()
      case Place.changes: request.serving?.note(at: Self.now)
      case Place.look: takeLook()
      case Place.allocations...: hearAllocation(Int(event.place - Place.allocations))
      default: break
      }
    }
  }

  func tell(_ event: SchedulerEvent) { tell(.scheduler(event)) }

  func tell(_ fact: EngineFact) { engine.handle(fact, at: Self.now, wall: wall) }

  private func endTurn() {
    performSteps()
    while shareWithMake() { performSteps() }
    if plan.hasServices { attendServices() }
    display.follow(at: Self.now)
    downloads.write(at: Self.now)
    display.flush(at: Self.now)
    watchKeys()
  }

  func performSteps() {
    while let step = engine.next(at: Self.now) {
      switch step {
      case .tell(let entry): show(entry)
      case .began(let task, let attempt): show(.began(task, attempt: attempt))
      case .launch(let worker, let kind, let node): launch(worker, kind, on: node)
      case .slot(let worker, let program): slot(worker, in: program)
      case .retract(let retraction): retract(retraction)
      case .send(let worker, let message): enqueue(message, for: worker)
      case .discard(let worker):
        // The engine knows the reason. A failed launch is reported separately.
        if let link = links[worker.index], case .talking = link.state {
          lose(link, complaint: "")
        }
      case .write: write()
      case .sync(let place, let kind): sync(upTo: place, kind)
      case .answer(let connection, let id, let answer): self.answer(connection, id, answer)
      case .dismiss:
        dismiss()
        sendMessages()
      case .finish(let entry): setRunState(entry)
      case .passOn: passOn()
      }
    }
    sendMessages()
  }

  /// The next session shows the summary.
  private func passOn() {
    closing = CloseEntry(state: .running, exitCode: 0)
    display.passOn(at: Self.now)
    downloads.remove()
  }

  /// Reports the end before the leaving workers are gone.
  private func setRunState(_ entry: CloseEntry) {
    if let failure = journalFailure, !hasLostClaim {
      let count = engine.unrecordedSuccesses
      warn(
        "cannot write the journal: \(failure)"
          + (count == 0
            ? ""
            : "; it may lack the success of \(CountText.tasks(count)), which `opflow resume` then"
              + " re-runs"))
      for request in engine.unrecordedRequests { show(.requestFailed(request)) }
    }
    regainPassed()
    closing = entry
    display.close(entry, atMilliseconds: Clock.wallMilliseconds)
    downloads.remove()
  }

  private func finish() -> SessionResult {
    // The syncer must end before its file is closed.
    syncer = nil
    control.close()
    leaveMake()
    let held = engine.passesOn
    if held.isEmpty { for launcher in launchers { launcher.cleanUp() } }
    tellLeftTransports()
    nodes?.giveBack()
    if nodes != nil { request.folder.removeAwaited() }
    endProgress()
    let code = closing?.exitCode ?? 70
    return SessionResult(
      exitCode: code, stopSignal: stopSignal, passed: Array(zip(held, passed)), plan: plan)
  }

  enum Place {
    static let signals: UInt32 = 0
    static let syncer: UInt32 = 1
    static let view: UInt32 = 2
    static let keys: UInt32 = 3
    static let make: UInt32 = 4
    static let changes: UInt32 = 5
    static let look: UInt32 = 6
    /// The first of one token per allocation.
    static let allocations: UInt32 = 7
  }
}

extension PollEvent {
  fileprivate var isSignal: Bool {
    if case .coordinator = owner { place == Coordinator.Place.signals } else { false }
  }
}

final class JournalSyncer {
  let thread: Syncer
  init(_ thread: consuming Syncer) { self.thread = thread }
}

extension Coordinator {
  /// The run continues without a socket.
  func openControl() {
    do throws(ControlFault) {
      try control.listen(in: request.folder.path)
    } catch {
      warn(error.detail)
    }
    guard let number = request.controlDescriptor else { return }
    do throws(Errno) {
      try control.welcome(UnixSocket.takeInherited(number), at: awakeAt) { [:] }
    } catch {
      warn("cannot read from the client on descriptor \(number): \(error)")
    }
  }

  func hearConnections(at place: UInt32) {
    control.take(at: place, now: awakeAt) {
      var workers: [Int32: WorkerID] = [:]
      let host = Machine.hostName
      for case let link? in links {
        // A process ID of another machine means nothing here.
        guard let entry = link.entry, entry.host == host else { continue }
        workers[entry.pid] = link.id
      }
      return workers
    }
  }

  /// After all reports of the turn: a client may be a task whose start is among them.
  func takeRequests() {
    control.hosts.isLeaving = engine.isLeaving
    let demands = control.takeTurn(at: awakeAt) { engine.runningTask(of: $0) }
    for (connection, demand) in demands {
      switch demand {
      case .request(var request):
        request.requester.name = masked(request.requester.name)
        tell(.request(request, from: connection))
      case .addition(let request, var requester):
        requester.name = masked(requester.name)
        add(request, by: requester, for: connection)
      case .hello(let hello): attach(hello, of: connection)
      }
    }
    let folder = request.folder
    let isStopDue = control.hosts.takeStop(at: awakeAt) {
      (try? ClientsLock.isHeld(folder)) ?? false
    }
    if isStopDue { tell(.clientsGone) }
  }

  func masked(_ text: String) -> String { masker?.masked(text) ?? text }

  func answer(_ connection: ConnectionID, _ id: RequestID, _ answer: RequestAnswer) {
    if connection == Self.keyboard { return answerKey(id, answer) }
    control.answer(connection, id, answer, at: Self.now)
  }
}

extension Coordinator {
  /// Requests by keys; no client of the socket has this ID.
  static let keyboard = ConnectionID(-1)

  func watchKeys() {
    let wanted = display.keyDescriptor
    if wanted == watchedKeys { return }
    if watchedKeys >= 0 { try? watch.remove(watchedKeys) }
    watchedKeys = -1
    guard wanted >= 0 else { return }
    do throws(Errno) {
      try watch.add(wanted, .coordinator, Place.keys)
      watchedKeys = wanted
    } catch {
      display.giveKeysBack()
    }
  }

  func takeKeys() {
    for action in display.takeKeys() {
      let id = RequestID.new()
      guard let request = action.request(id, plan) else {
        display.view.live?.tell("Ctrl-C stops the run, Ctrl-Z suspends it")
        continue
      }
      let requester = Requester(
        pid: ProcessID.own, user: ProcessID.ownUser, name: LiveKeys.Action.name)
      display.view.live?.ask(request)
      do throws(RequestRefusal) {
        let asked = try request.controlRequest(of: plan, from: requester)
        keyRequests[id] = request
        tell(.request(asked, from: Self.keyboard))
      } catch {
        display.view.live?.tell(request.outcome(.refused(detail: error.detail)), of: request)
      }
    }
  }

  func answerKey(_ id: RequestID, _ answer: RequestAnswer) {
    if let request = keyRequests.removeValue(forKey: id) {
      display.view.live?.tell(request.outcome(answer), of: request)
    }
  }
}

package struct SessionRequest {
  package let folder: RunFolder
  package let plan: Plan
  let options: SchedulerOptions
  let durability: Durability
  package internal(set) var resumeState: ResumeState
  let encoder: JournalEncoder
  /// Journaled before anything starts: `resume`, and the tasks that leave an earlier state.
  var opening: [JournalEntry] = []
  package internal(set) var isResumed = false
  package var warnings: [String] = []
  let secrets: [SecretValue]
  /// True if the calling make limits the jobs.
  let sharesJobs: Bool
  let controlDescriptor: Int32?
  /// Ends services when files change; nil if only the user ends them.
  var serving: ServingWatch?
  /// Workers of the held services that the previous session left, by worker number.
  var links: [WorkerLink] = []
  /// nil if a takeover is impossible.
  var claim: RunClaim?
  var nodes: NodeSettings?
}
