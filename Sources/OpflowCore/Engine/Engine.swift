/// The pure core of a session: facts go in; journal lines, launches, worker commands and sync
/// requests come out, in the order in which they must happen.
///
/// The caller reports a fact with `take`, then performs steps from `next` until it returns nil.
/// "Journaled before acted on" is kept here: a worker command comes out only after the caller has
/// reported that its lines are written, and synced if that was promised.
package struct Engine: ~Copyable {
  package private(set) var plan: Plan
  private var scheduler: Scheduler
  private var encoder: JournalEncoder
  /// Whether lines are written; in a forecast they are not, and count as written.
  private let journals: Bool
  private var gate: OrderGate
  private var answers = AnswerGate()

  /// Steps that the scheduler decided and that are still to be performed.
  private var actions = StepQueue()
  /// The next lines to encode and emit; `told` of them are done.
  private var lines: [JournalEntry]
  private var told = 0
  private var isWriting = false
  private var hasBegun = false
  /// Events before the first lines were written.
  private var early: [SchedulerEvent] = []
  private var hasFailed = false
  /// Successes since the last write that worked.
  private var unrecorded = 0
  /// Requests since then.
  private var unrecordedAsked: [OrderEntry] = []
  private var mustStop = false
  private var closing: CloseEntry?
  /// Services for the next session, once this one has ended.
  package private(set) var passesOn: [HeldService] = []
  private var ending = Ending.open
  private var wall: Int64 = 0

  private enum Ending { case open, dismiss, sync, syncing, finish, over }

  private static let failure = CloseEntry(state: .interrupted, exitCode: 74)

  /// - Parameters:
  ///   - entering: the states in which the tasks enter the session.
  ///   - journal: an encoder that continues after the last line; nil to write nothing.
  ///   - opening: the first lines of the session.
  package init(
    plan: Plan, options: SchedulerOptions, entering: Entering, journal: JournalEncoder?,
    durability: Durability = .none, opening: [JournalEntry] = []
  ) {
    self.plan = plan
    scheduler = Scheduler(plan: plan, options: options, entering: entering)
    encoder = journal ?? JournalEncoder()
    journals = journal != nil
    gate = OrderGate(durability: durability)
    lines = opening
  }

  /// The task that a worker has reported as running, or `none`.
  package func runningTask(of worker: WorkerID) -> TaskID { scheduler.runningTask(of: worker) }

  /// The number of a task's latest attempt.
  package func attempt(of task: TaskID) -> Int32 { scheduler.attempt[task.index] }

  /// The number of tasks that a request was applied to; nil if it was not.
  package func count(ofOrder id: OrderID) -> Int? { scheduler.orders.count(of: id) }

  // MARK: - Facts

  /// Handles a fact.
  ///
  /// - Parameter wall: milliseconds since the epoch, for the resulting lines.
  package mutating func take(_ fact: EngineFact, at now: Instant, wall: Int64) {
    self.wall = wall
    switch fact {
    case .scheduler(let event):
      guard closing == nil else { return refuse(event) }
      if case .extend(let growth) = event { plan = growth.plan }
      if case .withdrawn(let withdrawal) = event, let renamed = withdrawal.plan { plan = renamed }
      guard hasBegun else {
        early.append(event)
        return
      }
      scheduler.handle(event, at: now, into: &actions)
    case .launched(let worker, var entry):
      entry.worker = worker
      entry.site = scheduler.site(of: worker)
      lines.append(.worker(entry))
    case .wrote: wrote(at: now)
    case .synced(let place):
      gate.completed(upTo: place)
      if ending == .syncing { ending = .finish }
    case .journalFailed: fail()
    }
  }

  /// Refuses requests after the session's end.
  private mutating func refuse(_ event: SchedulerEvent) {
    let refusal = OrderAnswer.refused(what: "the run has ended")
    switch event {
    case .order(let order, let client): answers.append(client, order.id, refusal, line: 0)
    case .extend(let late): answers.append(late.client, late.entry.id, refusal, line: 0)
    default: break
    }
  }

  /// Begins the session; called once, before everything else.
  package mutating func begin(at now: Instant, wall: Int64) {
    self.wall = wall
    if lines.isEmpty || !journals { start(at: now) }
  }

  private mutating func start(at now: Instant) {
    hasBegun = true
    scheduler.handle(.begin, at: now, into: &actions)
    for event in early { scheduler.handle(event, at: now, into: &actions) }
    early = []
  }

  private mutating func wrote(at now: Instant) {
    precondition(isWriting, "nothing was to be written")
    isWriting = false
    gate.wrote(upTo: end, at: now)
    encoder.removeAll()
    unrecorded = 0
    if !unrecordedAsked.isEmpty { unrecordedAsked.removeAll() }
    if !hasBegun { start(at: now) }
  }

  /// Handles a failed write or sync, which is never retried: nothing starts without a journal line,
  /// and running tasks are stopped.
  private mutating func fail() {
    isWriting = false
    if ending == .syncing { ending = .finish }
    guard !hasFailed else { return }
    hasFailed = true
    encoder.removeAll()
    answers.fail(beyond: gate.told)
    gate.fail()
    passesOn = []
    if closing == nil { mustStop = true } else { closing = Self.failure }
  }

  /// Stops everything, then revokes the unsent starts; the other way round they would start again.
  /// Prefetched tasks are revoked before the task that they follow.
  private mutating func stop(at now: Instant) {
    mustStop = false
    scheduler.handle(.stop(.ioError), at: now, into: &actions)
    for (worker, task, attempt) in gate.withdrawStarts() {
      if isOver(worker, task, attempt, at: now) { continue }
      scheduler.handle(.revoked(worker, task, attempt: attempt), at: now, into: &actions)
    }
    if !hasBegun { start(at: now) }
  }

  // MARK: - Steps

  /// The bytes for the step `write`.
  package var unwritten: [UInt8] { encoder.bytes }

  /// The number of the next line.
  package var nextSequence: UInt64 { encoder.nextSequence }

  /// Returns the next step; nil: nothing to do until the next fact or `nextWake`.
  package mutating func next(at now: Instant) -> EngineStep? {
    precondition(!isWriting, "whether the lines are written was not told")
    return nextDecision() ?? nextThatWaits(at: now)
  }

  private mutating func nextThatWaits(at now: Instant) -> EngineStep? {
    while true {
      if let step = nextDecision() { return step }
      if mustStop {
        stop(at: now)
        continue
      }
      if !encoder.isEmpty {
        isWriting = true
        return .write
      }
      if ending != .open, let answer = answers.release(upTo: gate.told) { return answer }
      if let step = nextOfEnd() { return step }
      if passesOnNow() { continue }
      if let (place, kind) = gate.takeRequest(at: now) { return .sync(upTo: place, kind) }
      if let answer = answers.release(upTo: gate.told) { return answer }
      guard let (worker, order) = gate.release(at: now) else { break }
      if let (task, attempt) = order.start, isOver(worker, task, attempt, at: now) { continue }
      return .order(worker, order)
    }
    // Tasks that must not be repeated need a sync before they start.
    guard let (place, kind) = gate.takeRequest(at: now) else { return nil }
    return .sync(upTo: place, kind)
  }

  /// Drops an unsent start if its external task has ended meanwhile.
  private mutating func isOver(
    _ worker: WorkerID, _ task: TaskID, _ attempt: Int32, at now: Instant
  ) -> Bool {
    plan.hasBlocks && scheduler.dropUnsent(worker, task, attempt, at: now, into: &actions)
  }

  /// Returns the next step that waits for no write: the caller may take it before its turn ends.
  @inline(__always)
  package mutating func nextDecision() -> EngineStep? {
    while true {
      if told < lines.count { return nextLine() }
      if actions.isEmpty { return nil }
      if let step = nextAction() { return step }
    }
  }

  private mutating func nextLine() -> EngineStep {
    let line = lines[told]
    if writes { encoder.append(line, at: wall, plan: plan) }
    told += 1
    if told == lines.count {
      lines.removeAll(keepingCapacity: true)
      told = 0
    }
    return .tell(line)
  }

  /// Performs the scheduler's next action; nil if it gives no step for the caller.
  @inline(__always)
  private mutating func nextAction() -> EngineStep? {
    if !journals, !actions.firstIs(Self.isOfEnd) { return actions.removeFirst() }
    // Removed rather than borrowed, so that the payload is not copied.
    switch actions.removeFirst() {
    case .order(let worker, let order): hold(order, for: worker)
    case .finish(let entry):
      closing = hasFailed ? Self.failure : entry
      ending = .dismiss
      lines.append(.close(entry))
    case .tell(let entry):
      write(entry)
      return .tell(entry)
    case .answer(let client, let id, let answer):
      answers.append(client, id, answer, line: end)
    case let step: return step
    }
    return nil
  }

  /// Whether the engine handles the step even if nothing is journaled.
  @inline(__always)
  private static func isOfEnd(_ step: borrowing EngineStep) -> Bool {
    switch step {
    case .finish, .answer: true
    case .tell, .began, .launch, .seat, .discard, .withdraw, .write, .sync, .order, .dismiss,
      .passOn:
      false
    }
  }

  private mutating func write(_ entry: JournalEntry) {
    if case .transition(let transition) = entry, case .success = transition.event {
      unrecorded += 1
    }
    if case .order(let order) = entry { unrecordedAsked.append(order) }
    if !hasFailed { encoder.append(entry, at: wall, plan: plan) }
  }

  private mutating func hold(_ order: WorkerOrder, for worker: WorkerID) {
    var mustNotRepeat = false
    if let (task, _) = order.start {
      mustNotRepeat = plan.flags(task).contains(.failWhenInterrupted)
    }
    gate.hold(order, for: worker, line: end, mustNotRepeat: mustNotRepeat)
  }

  private var writes: Bool { journals && !hasFailed }

  /// The journal offset at which the known lines end.
  private var end: UInt64 { gate.written + UInt64(encoder.bytes.count) }

  /// Ends the session if only services are left that the next one takes over; returns whether it
  /// did.
  private mutating func passesOnNow() -> Bool {
    guard plan.hasServices, closing == nil, !hasFailed, let held = scheduler.endPassingOn() else {
      return false
    }
    passesOn = held
    closing = CloseEntry(state: .running, exitCode: 0)
    ending = .dismiss
    return true
  }

  private mutating func nextOfEnd() -> EngineStep? {
    switch ending {
    case .open, .syncing, .over: return nil
    case .dismiss:
      ending = .sync
      // No worker has a task that a command could concern.
      gate.removeOrders()
      return .dismiss
    case .sync:
      if gate.isSyncing { return nil }
      guard let place = gate.takeLastRequest() else { break }
      ending = .syncing
      return .sync(upTo: place, .last)
    case .finish: break
    }
    ending = .over
    if !passesOn.isEmpty { return .passOn(passesOn) }
    return closing.map { .finish($0) }
  }

  // MARK: - Queries

  /// The time of the next `timer` event or sync.
  package var nextWake: Instant? {
    let timer = closing == nil ? scheduler.nextWake : nil
    guard let sync = gate.nextWake else { return timer }
    return timer.map { min($0, sync) } ?? sync
  }

  /// Whether the caller must report `timer` now.
  package func isTimerDue(at now: Instant) -> Bool {
    guard closing == nil, let wake = scheduler.nextWake else { return false }
    return wake <= now
  }

  /// The nanoseconds until a decision may be needed; 0: at once.
  package var restNanoseconds: Int64 {
    gate.isEmpty ? scheduler.restNanoseconds : 0
  }

  /// Returns why tasks cannot be added, or the answer of an earlier identical request; nil if they
  /// can.
  ///
  /// - Parameters:
  ///   - segment: the new tasks, already checked against the plan.
  ///   - adder: the generator; `none` if the requester is not a task of the run.
  package func answer(
    toExtension id: OrderID, by segment: Plan, of adder: TaskID = .none
  ) -> OrderAnswer? {
    if closing != nil { return .refused(what: "the run has ended") }
    if hasFailed { return .refused(what: "the journal cannot be written, and the run ends") }
    if let count = count(ofOrder: id) { return .done(count: count) }
    let fault =
      scheduler.fault(ofExtensionBy: adder) ?? scheduler.fault(ofSegment: segment, by: adder)
    return fault.map { .refused(what: $0) }
  }

  package func state(_ task: TaskID) -> TaskState { scheduler.state(task) }

  /// Whether the session is ending, so that new requests are too late.
  package var isLeaving: Bool { closing != nil || scheduler.phase.stopCause != nil }

  /// The number of classes and services that decisions have looked at, which measures their work.
  package var lookCount: Int { scheduler.lookCount }

  /// Whether a node's time is over and nothing runs there.
  package func isOver(_ site: SiteID) -> Bool { closing == nil && scheduler.isOver(site) }

  /// Whether only services are left, which stay until the run is stopped.
  package var isServing: Bool { closing == nil && scheduler.isServing }

  /// Whether starts are paused by a request.
  package var isPaused: Bool { scheduler.phase.isPaused }

  /// Services that are up and can pass to the next session.
  package var heldServices: [HeldService] { isServing ? scheduler.heldServices : [] }

  /// Whether all running services are ready.
  package var servicesAreUp: Bool { scheduler.heldServices.count == scheduler.runningServices }

  /// Services that are to stay up but lack resources to start.
  package var servicesWithoutRoom: [TaskID] { isServing ? scheduler.servicesWithoutRoom : [] }

  /// The number of successes missing in a failed journal; a resume runs those tasks again.
  package var unrecordedSuccesses: Int { hasFailed ? unrecorded : 0 }

  /// Reported requests that a failed journal lacks, so that they have no effect.
  package var unrecordedOrders: [OrderEntry] { hasFailed ? unrecordedAsked : [] }

  /// The local `cpu` that the session could use of other runs, and the `cpu` that it can give them.
  package func processorShare(at now: Instant) -> (wanted: UInt64, spare: UInt64) {
    closing == nil ? scheduler.processorShare(at: now) : (0, .max)
  }

  /// Whether the session is over and ignores facts.
  package var isClosing: Bool { closing != nil }

  /// Describes a violated invariant, or returns nil; scans everything.
  package func checkInvariants() -> String? { scheduler.checkInvariants() }
}

/// The states in which the tasks of a plan enter a session.
package struct Entering: Sendable {
  /// The initial states, one per task.
  package var initial: [InitialState]
  /// The last attempt of each task in earlier sessions.
  package var attempts: [Int32]
  /// The same by name for removed tasks, which may be added again.
  package var attemptsOfRemoved: [String: Int32] = [:]
  /// `finally` tasks run even if this session starts no task: an earlier session started some and
  /// ended before its `finally` tasks.
  package var owesFinally: Bool
  /// Whether an earlier session started tasks.
  package var ranBefore = false
  /// Known durations; they influence the order only.
  package var durations: TaskDurations
  /// Values of tasks that keep an earlier result, with the strings that an `if` may read.
  package var values: [TaskID: ValueSet] = [:]
  package var arguments: TaskArguments?
  /// Priorities changed by earlier requests.
  package var priorities: [TaskID: Int16] = [:]
  /// Requests applied in earlier sessions, with their numbers of tasks.
  package var orders: [OrderID: Int] = [:]
  /// Requests of the previous session that still hold.
  package var standing = StandingOrders()
  /// Attempts used so far, if this session continues the previous one.
  package var triesUsed: [TaskID: TriesUsed] = [:]
  /// Approvals given in an earlier session that died before the task ended.
  package var approved: Set<TaskID> = []
  /// Results of tasks that enter as `recheck` or `later`.
  package var results: [TaskID: EarlierResult] = [:]
  /// Origin numbers of the valid successes, in a plan with checks.
  package var origins: [TaskID: UInt64] = [:]
  /// Tasks that the user named: services among them stay up.
  package var named: TaskSet?
  /// Services left up by the previous session: this one's first workers, in this order.
  package var held: [HeldService] = []
  package var openness = RunOpenness.ordinary
  /// A number that identifies the run in all its sessions.
  package var run: UInt64 = 0
  /// Tasks that run even if they are up to date.
  package var asked: TaskSet?

  /// The origin number of a success that has none recorded.
  package static func origin(ofTry attempt: Int32, inRun run: UInt64) -> UInt64 {
    run &+ UInt64(bitPattern: Int64(attempt))
  }

  package init(
    initial: [InitialState], attempts: [Int32], owesFinally: Bool = false,
    durations: TaskDurations = .unknown
  ) {
    self.initial = initial
    self.attempts = attempts
    self.owesFinally = owesFinally
    self.durations = durations
  }
}
