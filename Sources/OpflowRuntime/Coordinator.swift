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
}

/// Drives a run: one thread that waits for workers, signals and timers, tells the scheduler what
/// happened, and performs what it orders.
///
/// A turn of the loop reads all that is there, writes the journal once, and only then sends orders,
/// so nothing is done before the line that it follows from is written.
package final class Coordinator {
  let request: DriveRequest
  let plan: Plan
  var scheduler: Scheduler
  var poller: Poller
  let signals: SignalDescriptor
  /// `signals` alone.
  var signalWait = PollSet(slots: 1)
  var journal: JournalFile
  var syncs: SyncSchedule
  var syncer: JournalSyncer?
  var launcher: LocalLauncher
  /// By worker number; nil once it is reaped.
  var links: [WorkerLink?] = []
  /// Those of them that were killed and are still to be reaped.
  var ending: [WorkerLink] = []
  /// Workers that could not be ended.
  var immortals: Set<Int32> = []
  var progress: ProgressOutput
  var outputs: TaskOutputFiles
  var downloads: DownloadNotes

  var actions: [SchedulerAction] = []
  /// Tries of tasks that workers were handed ahead and have not begun with, by task.
  var handedAhead: [TaskID: Int32] = [:]
  /// What was ended along with tries whose end comes next, by task.
  var leftBehind: [TaskID: (attempt: Int32, left: LeftBehind)] = [:]
  /// Workers with orders that are not sent yet.
  var unsent: [WorkerLink] = []
  var journalFailure: Errno?
  var failedLaunches: [(WorkerID, complaint: String)] = []
  /// Until then the workers that were told to leave must have left.
  var dismissalDeadline: Instant?
  /// How the drive ended, once the scheduler said so.
  var closing: CloseEntry?
  /// Known when all is done that need not wait for the workers to leave.
  private var exitCode: Int32?
  var stopsAsked = 0
  /// When the loop last took up what there is.
  var awakeAt = Coordinator.now

  /// Drives the run to its end and returns the exit code (cli.md, "Exit codes").
  ///
  /// The caller holds the run's lock. `journal` is open behind its last whole line.
  package static func drive(
    _ request: DriveRequest, journal: consuming JournalFile
  ) throws(CoordinatorError) -> Int32 {
    let coordinator = try Coordinator(request, journal: journal)
    do throws(CoordinatorError) {
      return try coordinator.run()
    } catch {
      coordinator.progress.giveUp()
      throw error
    }
  }

  private init(
    _ request: DriveRequest, journal: consuming JournalFile
  ) throws(CoordinatorError) {
    self.request = request
    plan = request.plan
    scheduler = Scheduler(
      plan: request.plan, options: request.options, initial: request.initial,
      attempts: request.attempts, owesFinally: request.owesFinally, durations: request.durations)
    syncs = SyncSchedule(durability: request.durability, written: journal.writtenBytes)
    do throws(Errno) {
      // A child of a worker that dies comes to this process, which ends it.
      try ProcessTree.becomeSubreaper()
      try Dispositions.ignore(.pipe)
      signals = try SignalDescriptor(Self.watchedSignals())
      poller = try Poller()
      try poller.add(signals.rawValue, token: Token.signals)
      signalWait.set(0, signals.rawValue)
      launcher = try LocalLauncher(folder: request.folder, runID: request.runID)
    } catch {
      throw CoordinatorError("cannot set up the run", error)
    }
    self.journal = journal
    do throws(Errno) {
      progress = try ProgressOutput(
        view: ProgressView(
          options: request.progress, plan: request.plan, heading: request.heading))
      try poller.add(progress.rawDescriptor, token: Token.view)
    } catch {
      throw CoordinatorError("cannot set up the view of the run", error)
    }
    outputs = TaskOutputFiles(folder: request.folder, plan: request.plan)
    downloads = DownloadNotes(folder: request.folder, plan: request.plan)
  }

  private func run() throws(CoordinatorError) -> Int32 {
    let wall = Clock.wallMilliseconds
    progress.begin(atMilliseconds: wall)
    for warning in request.warnings { progress.warning(warning) }
    append(request.opening, at: wall)
    flushJournal()
    // Workers are on their way while the disk is: a task starts when they say hello, and by then what
    // a resume is to find is there.
    tell(.begin)
    flushJournal()
    try syncBeginning()
    var events: [PollEvent] = []
    while true {
      endTurn()
      if let entry = closing {
        if exitCode == nil {
          conclude(entry)
          continue
        }
        if !links.contains(where: { $0 != nil }) { break }
      }
      let wake = nextWake
      do throws(Errno) {
        try rest()
        try poller.wait(timeout: wake.map(Self.timeout), into: &events)
      } catch {
        throw CoordinatorError("cannot wait for events", error)
      }
      noteAwake(dueAt: wake)
      for event in events { try take(event) }
      if let wake = scheduler.nextWake, wake <= Self.now { tell(.timer) }
      enforceDismissal()
      giveUpOnImmortals()
    }
    return finish()
  }

  /// Makes last what a resume looks for, before the first task starts.
  private func syncBeginning() throws(CoordinatorError) {
    if request.durability == .none { return }
    do throws(RunFolderError) {
      try request.folder.sync()
    } catch {
      endWorkersAtOnce()
      if case .file(let doing, let path, let errno) = error {
        throw CoordinatorError("cannot \(doing) \(path)", errno)
      }
      throw CoordinatorError(error.message, .ioError)
    }
    guard journalFailure == nil else { return }
    do throws(Errno) {
      try journal.syncNow()
      syncs.completed(upTo: journal.writtenBytes)
    } catch {
      fail(error)
    }
  }

  /// Lets reports gather while all workers have work. Signals end it; what else may come can wait.
  private func rest() throws(Errno) {
    let rest = scheduler.restNanoseconds
    guard rest > 0, unsent.isEmpty else { return }
    _ = try signalWait.wait(nanoseconds: rest)
  }

  static var now: Instant { Instant(nanoseconds: Clock.monotonicNanoseconds) }

  /// Sees whether this process ran when it was to: it may have been stopped, or have waited for a
  /// disk or a processor, so that nobody listened to the workers.
  private func noteAwake(dueAt wake: Instant?) {
    let now = Self.now
    let gap = now.nanoseconds - awakeAt.nanoseconds
    awakeAt = now
    guard let wake, gap > Self.lateNanoseconds,
      now.nanoseconds - wake.nanoseconds > Self.lateNanoseconds
    else { return }
    tell(.late(nanoseconds: gap))
  }

  /// So much later than planned is no more than a busy machine.
  private static let lateNanoseconds: Int64 = 1_000_000_000

  /// When there is something to do, if nothing happens before.
  private var nextWake: Instant? {
    let wakes = [
      closing == nil ? scheduler.nextWake : nil, syncs.nextWake, progress.nextWake,
      progress.followsOutput ? outputs.nextWake : nil, dismissalDeadline, ending.first?.giveUpAt,
    ].compactMap { $0 }
    return wakes.min()
  }

  private static func timeout(until wake: Instant) -> Duration {
    .nanoseconds(max(0, wake.nanoseconds - now.nanoseconds))
  }

  private func take(_ event: PollEvent) throws(CoordinatorError) {
    switch event.token {
    case Token.signals: takeSignals()
    case Token.syncer: takeSync()
    case Token.view: progress.takeNotice()
    default:
      guard let link = links[Token.worker(event.token)] else { return }
      if Token.isProcess(event.token) {
        bury(link)
      } else if Token.isOrders(event.token) {
        send(to: link)
      } else {
        read(from: link)
      }
    }
  }

  /// Tells the scheduler a fact and performs what it orders.
  func tell(_ event: SchedulerEvent) {
    guard closing == nil else { return }
    actions.removeAll(keepingCapacity: true)
    scheduler.handle(event, at: Self.now, into: &actions)
    let wall = actions.isEmpty ? 0 : Clock.wallMilliseconds
    // Performing an action never tells the scheduler anything: facts come from the loop alone.
    for action in actions {
      switch action {
      case .journal(let transition): record(transition, at: wall)
      case .launch(let worker, let kind): launch(worker, kind, at: wall)
      case .order(let worker, let order):
        enqueue(order, for: worker)
        show(order, at: wall)
      case .discard(let worker):
        // The scheduler knows why. One whose launch failed is told of as that.
        if let link = links[worker.index] { lose(link, complaint: "") }
      case .finish(let entry):
        closing = entry
        append([.close(entry)], at: wall)
        dismiss()
      }
    }
  }

  /// Writes the journal, then sends what follows from it, then shows it.
  private func endTurn() {
    reportFailedLaunches()
    flushJournal()
    requestSync()
    sendPending()
    if progress.followsOutput {
      outputs.follow(at: Self.now, room: { progress.outputRoom }) { task, piece in
        showBegun(task)
        progress.take(piece, of: task)
      }
    }
    downloads.write(at: Self.now)
    progress.flush(at: Self.now)
  }

  /// Does all that need not wait for the workers, which were told to leave: no line follows the last
  /// one any more.
  private func conclude(_ entry: CloseEntry) {
    if request.durability != .none, journalFailure == nil {
      do throws(Errno) {
        try journal.syncNow()
        syncs.completed(upTo: journal.writtenBytes)
      } catch {
        fail(error)
      }
    }
    var entry = entry
    if let failure = journalFailure {
      entry = CloseEntry(state: .interrupted, exitCode: 74)
      progress.warning("the journal cannot be written: \(failure)")
    }
    exitCode = entry.exitCode
    progress.close(entry, atMilliseconds: Clock.wallMilliseconds)
    downloads.remove()
    RunGroups.removeAbandoned()
  }

  private func finish() -> Int32 {
    // Before the file that it syncs is closed.
    syncer = nil
    launcher.cleanUp()
    endProgress()
    return exitCode ?? 70
  }

  /// What a poll event is about.
  enum Token {
    static let signals: UInt64 = 0
    static let syncer: UInt64 = 1
    static let view: UInt64 = 2
    private static let firstWorker: UInt64 = 4

    static func reports(_ worker: WorkerID) -> UInt64 { UInt64(worker.index) * 4 + firstWorker }
    static func orders(_ worker: WorkerID) -> UInt64 { reports(worker) + 1 }
    static func process(_ worker: WorkerID) -> UInt64 { reports(worker) + 2 }
    static func worker(_ token: UInt64) -> Int { Int((token - firstWorker) / 4) }
    static func isOrders(_ token: UInt64) -> Bool { token % 4 == 1 }
    static func isProcess(_ token: UInt64) -> Bool { token % 4 == 2 }
  }
}

/// Holds the thread that syncs the journal where there is one.
final class JournalSyncer {
  let thread: Syncer
  init(_ thread: consuming Syncer) { self.thread = thread }
}
