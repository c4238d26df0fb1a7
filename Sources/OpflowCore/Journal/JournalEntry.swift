/// A line of the journal, as a value. `JournalEncoder` writes its text, `JournalLine` reads it.
package enum JournalEntry: Sendable, Equatable {
  // Those that come once or a few times stand apart, so that the one that comes all the time is small.
  indirect case open(OpenEntry)
  /// A further drive of the run begins.
  indirect case resume(ResumeEntry)
  case close(CloseEntry)
  indirect case worker(WorkerEntry)
  indirect case order(OrderEntry)
  indirect case stop(StopEntry)
  indirect case site(SiteEntry)
  indirect case extend(ExtendEntry)
  indirect case withdraw(WithdrawEntry)
  case transition(Transition)
}

/// The first line of every journal: what the run is of.
package struct OpenEntry: Sendable, Equatable {
  package static let currentFormat = 1
  package var format: Int = OpenEntry.currentFormat
  package var run: String
  /// 32 hexadecimal digits.
  package var planKey: String
  package var opflowVersion: String
  /// The manifest's real path; `-` for standard input.
  package var manifestPath: String
  /// `NAME=VALUE` each.
  package var set: [String] = []
  /// The tasks that the command line named, as selectors; none for all. They are what the run is
  /// about, in every drive of it.
  package var tasks: [String] = []
  /// What stood behind `--`, for the one task that was named.
  package var arguments: [String] = []
  package var only: [String] = []
  package var skip: [String] = []
  /// `NAME=HASH` of each environment value that expressions read; 16 hexadecimal digits, or `-`
  /// for an unset one.
  package var environment: [String] = []
  /// `HASH PATH` of each file of the manifest, the root first; 32 hexadecimal digits, and a path from
  /// `folder` on where it lies within.
  package var files: [String] = []
  package var limits = DriveLimits()
  /// Where its tasks may run beside this machine, as it was given; none for here alone.
  package var on: [String] = []
  /// The folder that relative paths of a manifest from standard input start at.
  package var folder: String
  /// The real path of the folder that held the run as it began.
  package var stateFolder: String = ""
  /// What the run was begun by, as far as that said so.
  package var trace: TraceParent?
  /// The task of another run that began it.
  package var around: TaskAround?
  /// It stays open for tasks to come until somebody closes it.
  package var serves = false
  /// What it is known by beside its id; empty for nothing.
  package var name = ""

  package init(
    run: String, planKey: String, opflowVersion: String, manifestPath: String, folder: String
  ) {
    self.run = run
    self.planKey = planKey
    self.opflowVersion = opflowVersion
    self.manifestPath = manifestPath
    self.folder = folder
  }
}

/// A further drive of the run: what it reads, and how much it takes over.
package struct ResumeEntry: Sendable, Equatable {
  package var planKey: String
  package var opflowVersion: String
  package var set: [String] = []
  package var only: [String] = []
  package var skip: [String] = []
  package var environment: [String] = []
  package var files: [String] = []
  package var limits = DriveLimits()
  package var on: [String] = []
  /// Tasks whose earlier result is taken over; every other one that had a result has its own
  /// `resume` line with the reason.
  package var reused: Int = 0
  /// How many tasks' `resume` lines follow this one without a gap; with it a reader of a damaged
  /// journal knows whether it lost one.
  package var withdrawn: Int = 0
  /// Ids of tasks that the manifest no longer has.
  package var removed: [String] = []
  /// Ids of orders that added tasks to the run, without which it is from here on: the task that gave them runs again,
  /// and says anew what is to be added.
  package var dropped: [String] = []
  /// What the drive was begun by, as far as that said so.
  package var trace: TraceParent?
  /// How many tasks the run's plan has from here on, where any were added to it; 0 else.
  package var taskCount = 0
  /// The drive before was lost, and this one goes on with it: what was ordered of that one holds.
  package var continues = false

  package init(planKey: String, opflowVersion: String) {
    self.planKey = planKey
    self.opflowVersion = opflowVersion
  }
}

/// How a drive of the run ended.
package struct CloseEntry: Sendable, Equatable {
  package var state: RunState
  /// The signal that asked for the end; 0 for none.
  package var signal: Int32 = 0
  package var exitCode: Int32

  package init(state: RunState, exitCode: Int32, signal: Int32 = 0) {
    self.state = state
    self.exitCode = exitCode
    self.signal = signal
  }
}

/// A drive begins to come to its end, since a signal asked for that, or as if one had.
package struct StopEntry: Sendable, Equatable {
  package var signal: Int32
  /// Why, where nobody sent the signal: no machine is left for what is to run, or `hostsGone`.
  package var what: String

  /// The last program has ended that the run was for.
  package static let hostsGone = "the program has ended that the run is for"

  package init(signal: Int32, what: String = "") {
    self.signal = signal
    self.what = what
  }
}

/// Where a run stands; the word of `status`.
package enum RunState: String, Sendable, CaseIterable {
  case running, succeeded, failed, cancelled, interrupted
}

/// A worker came. By this a later resume finds what a dead run's worker left behind.
package struct WorkerEntry: Sendable, Equatable {
  /// By which `start` lines name it; `none` in a journal of an older opflow.
  package var worker: WorkerID
  package var pid: Int32
  /// Since boot, in clock ticks (proc(5), field 22 of stat).
  package var startTime: UInt64
  package var bootID: String
  /// The number of the scheduling group of its session, which the kernel gives once in a boot; 0 where
  /// it gives none (sched(7), "The autogroup feature").
  package var autogroup: UInt64
  /// The machine that the process is on; empty where that is the coordinator's.
  package var host: String
  /// On which of the drive's sites it is.
  package var site = SiteID.local

  package init(
    worker: WorkerID = .none, pid: Int32, startTime: UInt64, bootID: String, autogroup: UInt64 = 0,
    host: String = ""
  ) {
    self.worker = worker
    self.pid = pid
    self.startTime = startTime
    self.bootID = bootID
    self.autogroup = autogroup
    self.host = host
  }
}

/// What happened to a task, or, for `pause` and `proceed`, to the whole run.
package enum TransitionEvent: Equatable, Sendable {
  case start, success, failure, retry
  case skip(SkipReason)
  case cancel, interrupt, pause, proceed
  /// A resume takes the task out of the state that an earlier drive left it in.
  case resume(RerunReason)
  /// It keeps the result that it has: what it reads and what it made are as they were.
  case fresh
  /// A service is ready.
  case ready
  /// A service was told to end.
  case stopping

  package var kind: TransitionKind {
    switch self {
    case .start: .start
    case .success: .success
    case .failure: .failure
    case .retry: .retry
    case .skip: .skip
    case .cancel: .cancel
    case .interrupt: .interrupt
    case .pause: .pause
    case .proceed: .proceed
    case .resume: .resume
    case .fresh: .fresh
    case .ready: .ready
    case .stopping: .stopping
    }
  }
}

/// The event of a line, without what its fields say of it.
package enum TransitionKind: UInt8, CaseIterable, Sendable {
  case start, success, failure, retry, skip, cancel, interrupt, pause, proceed, resume, fresh
  case ready, stopping

  /// The word in the journal.
  package var word: StaticString {
    switch self {
    case .start: "start"
    case .success: "success"
    case .failure: "failure"
    case .retry: "retry"
    case .skip: "skip"
    case .cancel: "cancel"
    case .interrupt: "interrupt"
    case .pause: "pause"
    case .proceed: "continue"
    case .resume: "resume"
    case .fresh: "fresh"
    case .ready: "ready"
    case .stopping: "stopping"
    }
  }
}

/// One state transition of one task.
package struct Transition: Sendable, Equatable {
  package var event: TransitionEvent
  /// `none` for the whole run.
  package var task: TaskID
  /// From 1, counted over all drives of the run; 0 where no try is meant.
  package var attempt: Int32 = 0
  /// Of a `start`: who has it; `none` in a journal of an older opflow.
  package var worker = WorkerID.none
  /// Of a `start`: the worker has another one before it, and begins with it when that one has ended
  /// with success.
  package var isAhead = false
  /// Of a `failure`: it does not fail the run.
  package var allowed = false
  /// Of a `success` and an allowed `failure`.
  package var fingerprint = Fingerprint(whole: 0, parts: 0)
  /// Of a try's end, and of a `failure` without a try.
  package var outcome = Outcome(status: .unknown)
  /// What few lines tell stands apart, so that the others are small.
  private var rare: Rare?

  private indirect enum Rare: Sendable, Equatable { case of(RareDetails) }

  private struct RareDetails: Sendable, Equatable {
    var delayMilliseconds: Int64 = 0
    var what = ""
    var left: LeftBehind?
    var fetch: FetchRecord?
    var values: [TaskValue]?
    var with: UInt64?
    var origin: UInt64?
    var kept: TaskState?
    var isLate = false
    var isRestored = false
  }

  package init(
    _ event: TransitionEvent, _ task: TaskID, attempt: Int32 = 0, reason: EndReason? = nil
  ) {
    self.event = event
    self.task = task
    self.attempt = attempt
    outcome.reason = reason
  }

  private var details: RareDetails {
    get { if case .of(let details) = rare { details } else { RareDetails() } }
    set { rare = newValue == RareDetails() ? nil : .of(newValue) }
  }

  /// Of a `retry`: until the next try, in milliseconds.
  package var delayMilliseconds: Int64 {
    get { details.delayMilliseconds }
    set { details.delayMilliseconds = newValue }
  }

  /// Of a refusal: what could not be done, with what. Of a `start` and a `resume`: what is not up to date. Of a
  /// `ready`: the ports (`ServicePorts.text`). For people.
  package var what: String {
    get { details.what }
    set { details.what = newValue }
  }

  /// Of a try's end: what was ended with it, or could not be.
  package var left: LeftBehind? {
    get { details.left }
    set { details.left = newValue }
  }

  /// Something of the try may still run: no other one starts beside it by itself.
  package var leavesAlive: Bool { left?.areAlive == true }

  /// Of a `success` and a `fresh`: what the task left for others; nil where nobody was to read it, so that nothing of
  /// it was kept.
  package var values: [TaskValue]? {
    get { details.values }
    set { details.values = newValue }
  }

  /// Of a `success`, a `fresh` and an allowed `failure`: a hash of the values that the task read; nil where it
  /// reads none.
  package var with: UInt64? {
    get { details.with }
    set { details.with = newValue }
  }

  /// Of a `success`, an allowed `failure` and a `fresh`, in a plan with tasks that declare `inputs`: a number of
  /// that end alone, in any run of any time. What needs the task and is up to date with one success is not so with another.
  package var origin: UInt64? {
    get { details.origin }
    set { details.origin = newValue }
  }

  /// Of a `fresh`: the result of an earlier drive of this run, which it is that holds; nil where another
  /// run had it.
  package var kept: TaskState? {
    get { details.kept }
    set { details.kept = newValue }
  }

  /// Of a `resume`: decided while the drive went on, so that it is none of the lines that it begins with.
  package var isLate: Bool {
    get { details.isLate }
    set { details.isLate = newValue }
  }

  /// Of a `success`: the task did not run, and its result came from a cache.
  package var isRestored: Bool {
    get { details.isRestored }
    set { details.isRestored = newValue }
  }

  /// Of a download's end: what it did.
  package var fetch: FetchRecord? {
    get { details.fetch }
    set { details.fetch = newValue }
  }

  /// Nil where the event says it all.
  package var why: Why? {
    switch event {
    case .skip(let reason): .skipped(reason)
    case .resume(let reason): .rerun(reason)
    case .start, .success, .failure, .retry, .cancel, .interrupt, .pause, .proceed, .fresh,
      .ready, .stopping:
      outcome.reason.map { .ended($0) }
    }
  }
}
