internal import OpflowCore
package import OpflowSystem

/// Why a drive could not go on, beyond what its journal can say.
package struct CoordinatorError: Error, Sendable {
  /// What was being done.
  package let what: String
  package let errno: Errno

  init(_ what: String, _ errno: Errno) {
    self.what = what
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

/// How a drive ended.
package struct DriveResult {
  /// That of the journal's `close` (cli.md, "Exit codes").
  package let exitCode: Int32
  /// The signal by which somebody asked for an end first; nil for none.
  package let stopSignal: Signal?
  /// The same where it came too late to change how the drive ended.
  package var lateStop: Signal? { stopSignal.flatMap { exitCode == 128 + $0.rawValue ? nil : $0 } }
  /// What goes on, with the links of the workers that have it; another drive is to follow at once.
  let passed: [(HeldService, WorkerLink)]
  /// With what was added to it.
  let plan: Plan
}

/// Drives a run: one thread that waits for workers, signals and timers, tells the engine what
/// happened, and performs its steps: a turn of the loop reads all that is there, then does what is to be
/// done.
package final class Coordinator {
  let request: DriveRequest
  /// With what was added so far.
  var plan: Plan
  let growing: GrowingPlan
  /// What was added in this turn, and is not shown yet.
  var unshownGrowths: [RunGrowth] = []
  var engine: Engine
  let watch: Watch
  let signals: SignalDescriptor
  /// `signals` alone.
  var signalWait = PollSet(slots: 1)
  var journal: JournalFile
  var syncer: JournalSyncer?
  /// That of this machine first; one for each stream to another one.
  var launchers: [any Launcher]
  /// By site: the number of the launcher that has its workers.
  var launcherOfSite = [0]
  /// nil in a run on this machine alone.
  let sites: Sites?
  /// By worker number; nil once it is gone.
  var links: [WorkerLink?] = []
  /// Those of them that are on their way to be gone.
  var ending: [WorkerLink] = []
  let display: DriveDisplay
  var progress: ProgressOutput { display.progress }
  var downloads: DownloadNotes
  /// nil where no make shares its jobs.
  let make: MakeJobs?
  let control: ControlSocket
  /// Finds the run's secrets; nil where it has none.
  lazy var masker = Masker(request.secrets)

  /// What of the keyboard is watched; -1 for nothing.
  var watchedKeys: Int32 = -1
  /// Orders from there that are not answered yet.
  var keyOrders: [OrderID: OrderRequest] = [:]

  /// Programs that have blocks.
  var programs: [HostID: ProgramLink] = [:]
  /// By worker that is a seat in one.
  var seats: [WorkerID: ProgramLink] = [:]
  var unsentPrograms: [ProgramLink] = []
  /// Those that the plan had before in this drive.
  var formerKeys: Set<String> = []
  /// Workers with orders that are not sent yet.
  var unsent: [WorkerLink] = []
  var journalFailure: Errno?
  /// When it was looked last whether the run is still this process's.
  var claimLookedAt = Coordinator.now
  /// It is another one's.
  var hasLostClaim = false
  /// Why the drive cannot go on.
  var failure: CoordinatorError?
  /// Until then the workers that were told to leave must have left.
  var dismissalDeadline: Instant?
  /// All is done, though the journal's end may not be on disk yet: no machine is reached for any more.
  var isDismissed = false
  /// Until then what carried streams must have ended, which may not do so though it was killed.
  var sitesDeadline: Instant?
  /// Workers with services that go on when the drive has ended: nobody hears them any more.
  var passed: [WorkerLink] = []
  /// How the drive ended, once the engine said so.
  var closing: CloseEntry?
  var stopsAsked = 0
  /// By which a stop was asked for first.
  var stopSignal: Signal?
  /// Kinds of which it was said that there are fewer workers than there could be.
  var kindsWithFewer: Set<WorkerKind> = []
  /// Kinds of which it was said that the last worker waits for a process.
  var shortKinds: Set<WorkerKind> = []
  /// Tasks of which it was told that another run has them.
  var awaited: Set<TaskID> = []
  /// Services of which it was told that they have no room.
  var lackRoom: Set<TaskID> = []
  /// What workers warned of.
  var warned: Set<String> = []
  static let mostWarnings = 20
  /// While an `interactive` task has the terminal.
  var loan: TerminalLoan?
  /// When the loop last took up what there is.
  var awakeAt = Coordinator.now
  /// The same in milliseconds since the epoch: the time of what happened in this turn.
  var wall = Clock.wallMilliseconds

  /// Drives the run to its end.
  ///
  /// The caller holds the run's lock. `journal` is open behind its last whole line.
  ///
  /// - Parameters:
  ///   - watch: has what is watched of workers that are there already.
  ///   - launcher: that of this machine.
  static func drive(
    _ request: DriveRequest, journal: consuming JournalFile, watch: Watch, launcher: any Launcher
  ) throws(CoordinatorError) -> DriveResult {
    let coordinator = try Coordinator(
      request, journal: journal, watch: watch, launcher: launcher)
    do throws(CoordinatorError) {
      return try coordinator.run()
    } catch {
      coordinator.endLoan()
      coordinator.control.close()
      coordinator.leaveMake()
      coordinator.progress.giveUp()
      throw error
    }
  }

  private init(
    _ request: DriveRequest, journal: consuming JournalFile, watch: Watch, launcher: any Launcher
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
      plan: request.plan, options: options,
      entering: request.entering, journal: request.encoder, durability: request.durability,
      opening: request.opening)
    do throws(Errno) {
      // A child of a worker that dies comes to this process, which ends it.
      try ProcessTree.becomeSubreaper()
      try Dispositions.ignore(.pipe)
      signals = try SignalDescriptor(Self.watchedSignals())
      try watch.add(signals.rawValue, .coordinator, Place.signals)
      control = ControlSocket(plan: request.plan, watch: watch)
      signalWait.set(0, signals.rawValue)
      sites = try request.sites.map { settings throws(Errno) in
        try Sites(settings, at: Self.now)
      }
    } catch {
      throw CoordinatorError("cannot set up the run", error)
    }
    self.journal = journal
    do throws(Errno) {
      var heading = request.heading
      let capacities = request.options.capacities(of: request.plan)
      heading.parallel = capacities.first.map { Int64(clamping: $0) }
      heading.capacities = capacities
      heading.maxFailures = request.options.maxFailures
      heading.durations = request.entering.durations
      display = try DriveDisplay(request.folder, request.plan, request.progress, heading)
      try watch.add(display.progress.rawDescriptor, .coordinator, Place.view)
    } catch {
      throw CoordinatorError("cannot set up the view of the run", error)
    }
    downloads = DownloadNotes(folder: request.folder, plan: request.plan)
  }

  /// Has what a make shares at the beginning, so that what wants several need not wait for one after the other.
  private static func joinMake(_ options: inout SchedulerOptions) -> MakeJobs? {
    guard case .jobs(let make) = MakeJobs.find() else { return nil }
    let others = options.maxParallel - min(options.maxParallel, 1)
    options.processorsAway = others - UInt64(make.take(Int(clamping: others)))
    return make
  }

  private func run() throws(CoordinatorError) -> DriveResult {
    progress.begin(atMilliseconds: wall)
    for warning in request.warnings { progress.warning(warning) }
    if request.sharesJobs, make == nil, case .withheld = MakeJobs.find() {
      progress.warning(
        "make shares no jobs with opflow, which runs up to \(request.options.maxParallel) at once:"
          + " write + before the command in the makefile, or give opflow -j")
    }
    // What a drive waited for that died.
    if request.heading.isResumed { request.folder.removeAwaited() }
    beginAllocations()
    engine.begin(at: Self.now, wall: wall)
    // What tasks are to find is made while the first workers come up; those that are there begin at once.
    if links.isEmpty { performSteps() }
    openControl()
    try makeUnread()
    var events: [PollEvent] = []
    while true {
      endTurn()
      if let failure { throw failure }
      if closing != nil, sitesAreOver, !links.contains(where: { $0 != nil }) { break }
      let wake = nextWake
      do throws(Errno) {
        try rest()
        try watch.wait(timeout: wake.map(Self.timeout), into: &events)
      } catch {
        throw CoordinatorError("cannot wait for events", error)
      }
      noteAwake(dueAt: wake)
      // First of all: who sends one to all processes of a run sends it to this one before they can tell
      // what came of it.
      for event in events where event.isSignal { take(event) }
      for event in events where !event.isSignal { take(event) }
      takeOrders()
      if engine.isTimerDue(at: Self.now) { tell(.timer) }
      enforceDismissal()
      giveUpOnEnds()
      attendSites()
    }
    return finish()
  }

  /// Makes the folder where tasks leave values that nobody reads.
  private func makeUnread() throws(CoordinatorError) {
    do throws(RunFolderError) {
      try request.folder.makeUnread()
    } catch {
      throw CoordinatorError(error)
    }
  }

  /// Lets reports gather while all workers have work. Signals end it; what else may come can wait.
  private func rest() throws(Errno) {
    let rest = engine.restNanoseconds
    guard rest > 0, unsent.isEmpty else { return }
    _ = try signalWait.wait(nanoseconds: rest)
  }

  static var now: Instant { Instant(nanoseconds: Clock.monotonicNanoseconds) }

  /// Sees whether this process ran when it was to: it may have been stopped, or have waited for a
  /// disk or a processor, so that nobody listened to the workers.
  private func noteAwake(dueAt wake: Instant?) {
    let now = Self.now
    wall = Clock.wallMilliseconds
    let gap = now.nanoseconds - awakeAt.nanoseconds
    awakeAt = now
    guard let wake, gap > Self.lateNanoseconds,
      now.nanoseconds - wake.nanoseconds > Self.lateNanoseconds
    else { return }
    // Whoever took this machine for gone may have gone on with the run.
    claimLookedAt = Instant(nanoseconds: 0)
    keepClaim()
    tell(.late(nanoseconds: gap))
  }

  /// So much later than planned is no more than a busy machine.
  private static let lateNanoseconds: Int64 = 1_000_000_000

  /// When there is something to do, if nothing happens before.
  private var nextWake: Instant? {
    let wakes = [
      engine.nextWake, display.nextWake, sites?.nextWake, dismissalDeadline, sitesDeadline,
      nextGiveUp, request.serving?.nextLook,
      control.nextWake { Self.now },
    ].compactMap { $0 }
    return wakes.min()
  }

  private static func timeout(until wake: Instant) -> Duration {
    .nanoseconds(max(0, wake.nanoseconds - now.nanoseconds))
  }

  private func take(_ event: PollEvent) {
    switch event.owner {
    case .site(let number): hear(launchers[number], at: event.place)
    case .control: hearClients(at: event.place)
    case .program: hearProgram(at: event.place)
    case .coordinator:
      switch event.place {
      case Place.signals: takeSignals()
      case Place.syncer: takeSync()
      case Place.view: progress.takeNotice()
      case Place.keys: takeKeys()
      case Place.changes: request.serving?.note(at: Self.now)
      case Place.look: takeLook()
      case Place.allocations...: hearAllocation(Int(event.place - Place.allocations))
      default: break
      }
    }
  }

  /// Tells the engine a fact; what follows from it is done as the turn ends.
  func tell(_ event: SchedulerEvent) { tell(.scheduler(event)) }

  func tell(_ fact: EngineFact) {
    engine.take(fact, at: Self.now, wall: wall)
  }

  /// Does what is to be done, then shows it.
  private func endTurn() {
    performSteps()
    while shareWithMake() { performSteps() }
    if plan.hasServices { attendServices() }
    display.follow(at: Self.now)
    downloads.write(at: Self.now)
    progress.flush(at: Self.now)
    watchKeys()
  }

  func performSteps() {
    while let step = engine.next(at: Self.now) {
      switch step {
      case .tell(.transition(let transition)): show(transition)
      case .tell(.order(let order)): progress.order(order, atMilliseconds: wall)
      case .tell(.stop(let stop)): progress.stop(stop, atMilliseconds: wall)
      case .tell(.site(let site)): progress.site(site, atMilliseconds: wall)
      case .tell(.worker(let worker)): progress.worker(worker)
      case .tell(.extend(let entry)): show(entry)
      case .tell(.withdraw(let entry)): display.withdraw(entry, plan: plan, atMilliseconds: wall)
      case .tell: break
      case .began(let task, let attempt): showStart(task, attempt: attempt)
      case .launch(let worker, let kind, let site): launch(worker, kind, on: site)
      case .seat(let worker, let program): seat(worker, in: program)
      case .withdraw(let withdrawal): withdraw(withdrawal)
      case .order(let worker, let order): enqueue(order, for: worker)
      case .discard(let worker):
        // The engine knows why. One whose launch failed is told of as that.
        if let link = links[worker.index], case .talking = link.state {
          lose(link, complaint: "")
        }
      case .write: write()
      case .sync(let place, let kind): sync(upTo: place, kind)
      case .answer(let client, let id, let answer): self.answer(client, id, answer)
      case .dismiss:
        dismiss()
        sendOrders()
      case .finish(let entry): conclude(entry)
      case .passOn: passOn()
      }
    }
    sendOrders()
  }

  /// Another drive follows, which tells more.
  private func passOn() {
    closing = CloseEntry(state: .running, exitCode: 0)
    display.passOn(at: Self.now)
    progress.passOn()
    downloads.remove()
  }

  /// Does all that need not wait for the workers, which were told to leave.
  private func conclude(_ entry: CloseEntry) {
    if let failure = journalFailure, !hasLostClaim {
      let count = engine.unrecordedSuccesses
      progress.warning(
        "the journal cannot be written: \(failure)"
          + (count == 0
            ? ""
            : "; it may lack that \(count) task\(count == 1 ? "" : "s") succeeded, which a resume"
              + " then runs again"))
      for order in engine.unrecordedOrders { progress.takeBack(order) }
    }
    regainPassed()
    closing = entry
    progress.close(entry, atMilliseconds: Clock.wallMilliseconds)
    downloads.remove()
  }

  private func finish() -> DriveResult {
    // Before the file that it syncs is closed.
    syncer = nil
    control.close()
    leaveMake()
    let held = engine.passesOn
    if held.isEmpty { for launcher in launchers { launcher.cleanUp() } }
    tellLeftTransports()
    sites?.giveBack()
    if sites != nil { request.folder.removeAwaited() }
    endProgress()
    let code = closing?.exitCode ?? 70
    return DriveResult(
      exitCode: code, stopSignal: stopSignal,
      passed: Array(zip(held, passed)), plan: plan)
  }

  /// What is watched beside the sites.
  enum Place {
    static let signals: UInt32 = 0
    static let syncer: UInt32 = 1
    static let view: UInt32 = 2
    static let keys: UInt32 = 3
    static let make: UInt32 = 4
    static let changes: UInt32 = 5
    static let look: UInt32 = 6
    /// And those behind it.
    static let allocations: UInt32 = 7
  }
}

extension PollEvent {
  fileprivate var isSignal: Bool {
    if case .coordinator = owner { place == Coordinator.Place.signals } else { false }
  }
}

/// Holds the thread that syncs the journal where there is one.
final class JournalSyncer {
  let thread: Syncer
  init(_ thread: consuming Syncer) { self.thread = thread }
}
