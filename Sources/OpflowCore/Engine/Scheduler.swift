/// What a drive may use, and when it gives up.
package struct SchedulerOptions: Sendable {
  /// Capacity of `cpu`.
  package var maxParallel: UInt64
  /// Capacity of `memory` where the manifest sets none, in bytes.
  package var memoryBytes: UInt64
  /// Failures after which nothing new starts; 0 is no limit.
  package var maxFailures: Int
  /// Of the generator that jitters retries.
  package var seed: UInt64
  /// Whether a short task's worker may be handed the next task before it reports.
  package var handsAhead = true
  /// Whether workers that hang are given up; imagined ones say nothing and do not hang.
  package var watchesWorkers = true
  /// How long a task is taken to last before any has ended.
  package var expectedWallMicroseconds: Int64 = SchedulerOptions.shortTaskMicroseconds * 8

  package init(maxParallel: UInt64, memoryBytes: UInt64, maxFailures: Int, seed: UInt64) {
    self.maxParallel = maxParallel
    self.memoryBytes = memoryBytes
    self.maxFailures = maxFailures
    self.seed = seed
  }

  /// Capacity of `download` where the manifest sets none.
  static let defaultDownloads: UInt64 = 4
  /// Workers for each task that `cpu` lets run; more can be at work when tasks hold no cpu.
  static let workersPerParallel: UInt64 = 4
  /// Workers that may be on their way to their hello at once: a thousand would share the processors
  /// for so long that the last ones look dead.
  static let maxLaunching = 64
  /// From launch to hello.
  static let helloMilliseconds: Int64 = 10_000
  /// Beyond a task's own grace, from a stop to the word that it ended.
  static let stopSlackMilliseconds: Int64 = 5_000
  /// From one look at which workers said nothing to the next.
  static let listenMilliseconds: Int64 = 5_000
  /// From a pulse to its answer.
  static let pulseMilliseconds: Int64 = 10_000
  /// Times that a task is run again because its worker was lost.
  static let maxLost: UInt8 = 3
  /// Workers in a row that say no hello before their tasks are failed.
  static let maxSilent = 3
  /// Tasks shorter than this are handed ahead: the hop to the coordinator is a part of their time.
  static let shortTaskMicroseconds: Int64 = 20_000
  /// Commands that a worker may be handed ahead, where they are so short that together they take
  /// this time at most; where not, one.
  static let maxCommandsAhead = 8
  static let commandsAheadMicroseconds: Int64 = 4_000
  /// Of the coordinator while all workers have work (`restNanoseconds`).
  static let maxRestMicroseconds: Int64 = 1_000
  static let minRestMicroseconds: Int64 = 200
  /// Downloads that a worker may be handed ahead. They are made durable together, and many at once
  /// take hardly longer than one.
  static let maxDownloadsAhead = 64
  /// Dependents of a running task looked at before another is handed ahead behind it.
  static let maxDependentsLookedAt = 16
  /// Demands that do not fit, looked at after each other before the pass is given up: where all tasks
  /// differ in what they want, a pass must not look at all of them.
  static let maxBlocked = 256
}

/// Decides what runs when: events in, actions out. A plain value with no clock, file or process.
///
/// One entry of a column for each task, hot state only; everything else is read from the plan. An
/// action list is to be performed in its order, which is how a transition comes to be journaled
/// before anything that follows from it.
struct Scheduler {
  let plan: Plan
  let options: SchedulerOptions
  let ranking: Ranking

  // Columns, indexed by TaskID.
  var stateByte: [UInt8]
  var marks: [TaskMarks]
  /// Edges that are not met yet, and one more for a `finally` task until its phase.
  var unmet: [Int32]
  /// The number of the last try, over all drives.
  var attempt: [Int32]
  /// Failed tries of this drive.
  var triesUsed: [Int32]
  /// What downloads did whose end is still to come.
  var fetches: [TaskID: FetchRecord] = [:]
  /// What was ended along with tries whose own end is still to come.
  var leftBehind: [TaskID: LeftBehind] = [:]
  /// Reused: what ended and is still to be told to its dependents.
  var endedTasks: [TaskID] = []
  /// Times its worker was lost in this drive.
  var lostCount: [UInt8]

  var ready: ReadyQueues
  var pool: ResourcePool
  var timers = TimerHeap()
  /// When the delay of tasks ends that wait for a retry and may not start any more, until they may.
  var withheld: [TaskID: Instant] = [:]
  var random: SplitMix64
  var workers: [WorkerRecord] = []
  var fleets: [Fleet]
  /// Worker numbers of those that live, to scan.
  var aliveWorkers: [WorkerID] = []

  var phase = Phase.begin
  var stopCause: StopCause?
  var isKilled = false
  var isHalted = false
  var isSuspended = false
  /// Of this drive.
  var failures = 0
  /// Tasks that stay failed since an earlier drive, which has counted them.
  var earlierFailures = 0
  /// Tasks that `--only` or `--skip` leaves out of this drive and that are not done.
  var leftOpen = 0
  /// Any task, so that `finally` tasks are due.
  var startedAny: Bool
  /// Tasks that a worker has or is to get.
  var heldByWorkers = 0
  /// Tasks that workers were handed ahead.
  var aheadCount = 0
  /// When it is looked again which workers said nothing.
  var listenAt: Instant?
  var pulseCount: Int32 = 0
  enum Phase { case begin, main, finally, done }

  /// - Parameters:
  ///   - initial: how each task enters; one entry a task.
  ///   - attempts: the number of each task's last try in earlier drives.
  ///   - owesFinally: `finally` tasks run though no task starts in this drive: an earlier one that
  ///     started some ended before them.
  ///   - durations: what is known of how long tasks take. It decides the order alone.
  package init(
    plan: Plan, options: SchedulerOptions, initial: [InitialState], attempts: [Int32],
    owesFinally: Bool = false, durations: TaskDurations = .unknown
  ) {
    precondition(initial.count == plan.taskCount && attempts.count == plan.taskCount)
    let count = plan.taskCount
    self.plan = plan
    self.options = options
    ranking = Ranking(plan: plan, durations: durations)
    stateByte = [UInt8](repeating: TaskState.waiting.rawValue, count: count)
    marks = [TaskMarks](repeating: [], count: count)
    unmet = [Int32](repeating: 0, count: count)
    attempt = attempts
    triesUsed = [Int32](repeating: 0, count: count)
    lostCount = [UInt8](repeating: 0, count: count)
    ready = ReadyQueues(demandCount: plan.demandCount)
    pool = ResourcePool(plan: plan, options: options)
    random = SplitMix64(seed: options.seed)
    startedAny = owesFinally
    let commandLimit = min(
      options.maxParallel.multipliedReportingOverflow(by: SchedulerOptions.workersPerParallel)
        .partialValue, 1 << 20)
    let downloads =
      pool.capacity.count > Int(ResourceEntry.download)
      ? pool.capacity[Int(ResourceEntry.download)] : SchedulerOptions.defaultDownloads
    fleets = [
      Fleet(
        limit: Int(commandLimit), maxAhead: SchedulerOptions.maxCommandsAhead,
        aheadMicroseconds: SchedulerOptions.commandsAheadMicroseconds,
        expectedWall: options.expectedWallMicroseconds),
      Fleet(
        limit: Int(min(max(downloads, 1), 1 << 10)), maxAhead: SchedulerOptions.maxDownloadsAhead,
        growsWhenSlow: true,
        expectedWall: min(options.expectedWallMicroseconds, Fleet.longMicroseconds)),
    ]
    for index in 0..<count { enter(TaskID(index), as: initial[index]) }
  }

  private mutating func enter(_ task: TaskID, as initial: InitialState) {
    let index = task.index
    switch initial {
    case .run, .interrupted, .skipOption, .afterNeeds: break
    case .skipOnce: leftOpen += 1
    case .succeeded: stateByte[index] = TaskState.succeeded.rawValue
    case .upToDate: stateByte[index] = TaskState.upToDate.rawValue
    case .failedAllowed: stateByte[index] = TaskState.failedAllowed.rawValue
    case .skipped: stateByte[index] = TaskState.skipped.rawValue
    case .skippedUpstream, .leftUpstream:
      stateByte[index] = TaskState.skipped.rawValue
      marks[index].insert(.skippedUpstream)
    case .failed, .leftFailed:
      stateByte[index] = TaskState.failed.rawValue
      earlierFailures += 1
    case .excluded: stateByte[index] = TaskState.skipped.rawValue
    case .leftOpen:
      stateByte[index] = TaskState.skipped.rawValue
      leftOpen += 1
    }
    if initial == .afterNeeds { marks[index].insert(.afterNeeds) }
    if initial == .interrupted { marks[index].insert(.failsAtBegin) }
    if initial == .skipOption || initial == .skipOnce { marks[index].insert(.skipsAtBegin) }
    unmet[index] = Int32(plan.needs(task).count)
    if plan.flags(task).contains(.finally) { unmet[index] += 1 }
  }

  /// Takes in a fact and appends what follows from it.
  package mutating func handle(
    _ event: SchedulerEvent, at now: Instant, into actions: inout [EngineStep]
  ) {
    guard phase != .done else { return }
    switch event {
    case .begin:
      begin(into: &actions)
    case .workerReady(let worker, _):
      welcome(worker, at: now)
    case .workerLost(let worker, let complaint):
      lose(worker, complaint: complaint, into: &actions)
    case .launchFailed(let worker, let complaint):
      launchFailed(worker, complaint: complaint, into: &actions)
    case .started(let worker, let task, let attempt):
      guard holds(worker, task, attempt, at: now, into: &actions) else {
        breach(worker, "started", task, into: &actions)
        break
      }
      noteStart(of: task, on: worker, at: now)
    case .left(let worker, let task, let attempt, let left):
      guard holds(worker, task, attempt, at: now, into: &actions) else {
        breach(worker, "left", task, into: &actions)
        break
      }
      leftBehind[task] = left
    case .fetched(let worker, let task, let attempt, let record):
      guard holds(worker, task, attempt, at: now, into: &actions) else {
        breach(worker, "fetched", task, into: &actions)
        break
      }
      fetches[task] = record
    case .ended(let worker, let task, let attempt, let outcome):
      guard holds(worker, task, attempt, at: now, into: &actions) else {
        breach(worker, "ended", task, into: &actions)
        break
      }
      ended(worker, task, outcome, what: "", at: now, into: &actions)
    case .refused(let worker, let task, let attempt, let errorNumber, let what):
      guard holds(worker, task, attempt, at: now, into: &actions) else {
        breach(worker, "refused", task, into: &actions)
        break
      }
      let outcome = Outcome(status: .unknown, reason: .refused, errorNumber: errorNumber)
      ended(worker, task, outcome, what: what, at: now, into: &actions)
    case .revoked(let worker, let task, let attempt):
      revoked(worker, task, attempt, into: &actions)
    case .heard(let worker):
      hear(worker)
      return
    case .late(let nanoseconds):
      postpone(by: nanoseconds, at: now)
    case .timer:
      timer(at: now, into: &actions)
    case .stop(let cause):
      stop(cause, at: now, into: &actions)
    case .kill:
      kill(at: now, into: &actions)
    case .suspend:
      suspend(at: now, into: &actions)
    case .proceed:
      proceed(at: now, into: &actions)
    }
    dispatch(at: now, into: &actions)
    advancePhase(at: now, into: &actions)
  }

  /// The moment at which a `timer` event is due, if nothing happens before.
  package var nextWake: Instant? {
    var wake = isSuspended ? nil : timers.first?.at
    var isListening = false
    for worker in aliveWorkers {
      if let due = workers[worker.index].nextDue, wake.map({ due < $0 }) ?? true { wake = due }
      if !isListening { isListening = workers[worker.index].isListenedTo }
    }
    if isListening, !isSuspended, let listenAt, wake.map({ listenAt < $0 }) ?? true {
      wake = listenAt
    }
    for fleet in fleets {
      if let due = fleet.slowFrom, wake.map({ due < $0 }) ?? true { wake = due }
    }
    return wake
  }

  package func state(_ task: TaskID) -> TaskState {
    TaskState(rawValue: stateByte[task.index]) ?? .waiting
  }

  /// Whether the drive is over and `finish` was ordered.
  package var isDone: Bool { phase == .done }

  /// The one place where a state changes.
  mutating func set(_ task: TaskID, _ next: TaskState) {
    let current = state(task)
    precondition(current.canBecome(next), "illegal transition from \(current) to \(next)")
    stateByte[task.index] = next.rawValue
  }
}

/// What else is to be remembered of a task.
struct TaskMarks: OptionSet {
  var rawValue: UInt8
  /// `max_failures` does not hold it back.
  static let exempt = TaskMarks(rawValue: 1 << 0)
  /// Skipped because its needs could not be met; such a skip meets only `finished`.
  static let skippedUpstream = TaskMarks(rawValue: 1 << 1)
  /// A `finally` task that waits for one of its needs to have run in this drive.
  static let afterNeeds = TaskMarks(rawValue: 1 << 2)
  /// Ready, but nothing new starts: it is in no queue.
  static let held = TaskMarks(rawValue: 1 << 3)
  /// Waits for a retry's delay.
  static let delayed = TaskMarks(rawValue: 1 << 4)
  static let failsAtBegin = TaskMarks(rawValue: 1 << 5)
  static let skipsAtBegin = TaskMarks(rawValue: 1 << 6)
  /// A try of it came to an end in this drive, by itself or with its worker.
  static let ran = TaskMarks(rawValue: 1 << 7)
}
