package import OpflowJournal
package import OpflowPlan
internal import OpflowWire

/// The pure core of a session. The caller reports a fact with `handle`, then performs steps of
/// `next` in order until it returns nil. A worker command comes out only after its lines are
/// reported as written, and synced if promised.
package struct Engine: ~Copyable {
  package private(set) var plan: Plan
  private var scheduler: Scheduler
  private var encoder: JournalEncoder
  /// False in a forecast.
  private let journals: Bool
  private var gate: MessageGate
  private var answers = AnswerGate()

  /// Lines to encode and emit; the first `told` are done.
  private var lines: [JournalEntry]
  private var told = 0
  private var isWriting = false
  private var hasBegun = false
  /// Events from before the first lines were written.
  private var early: [SchedulerEvent] = []
  private var hasFailed = false
  /// Successes since the last write that worked.
  private var unrecorded = 0
  private var unrecordedAsked: [RequestEntry] = []
  private var mustStop = false
  private var closing: CloseEntry?
  /// Services for the next session.
  package private(set) var passesOn: [HeldService] = []
  private var ending = Ending.open
  private var wall: Int64 = 0

  private enum Ending { case open, dismiss, sync, syncing, finish, over }

  private static let failure = CloseEntry(state: .interrupted, exitCode: 74)

  /// - Parameter journal: Continues after the last line; nil to write nothing.
  package init(
    plan: Plan, options: SchedulerOptions, resumeState: ResumeState, journal: JournalEncoder?,
    durability: Durability = .none, opening: [JournalEntry] = []
  ) {
    self.plan = plan
    scheduler = Scheduler(plan: plan, options: options, resumeState: resumeState)
    encoder = journal ?? JournalEncoder()
    journals = journal != nil
    gate = MessageGate(durability: durability)
    lines = opening
  }

  package func runningTask(of worker: WorkerID) -> TaskID { scheduler.runningTask(of: worker) }

  package func attempt(of task: TaskID) -> Int32 { scheduler.attempt[task.index] }

  /// Nil if the request was not applied.
  package func count(ofRequest id: RequestID) -> Int? { scheduler.requests.count(of: id) }

  // MARK: - Facts

  /// - Parameter wall: Milliseconds since the epoch, for the resulting lines.
  package mutating func handle(_ fact: EngineFact, at now: Instant, wall: Int64) {
    self.wall = wall
    switch fact {
    case .scheduler(let event):
      guard closing == nil else { return refuse(event) }
      if case .extend(let growth) = event { plan = growth.plan }
      if case .retracted(let retraction) = event, let renamed = retraction.plan { plan = renamed }
      guard hasBegun else {
        early.append(event)
        return
      }
      scheduler.handle(event, at: now)
    case .launched(let worker, var entry):
      entry.worker = worker
      entry.node = scheduler.node(of: worker)
      lines.append(.worker(entry))
    case .wrote: wrote(at: now)
    case .synced(let place):
      gate.completed(upTo: place)
      if ending == .syncing { ending = .finish }
    case .journalFailed: fail()
    }
  }

  private mutating func refuse(_ event: SchedulerEvent) {
    let refusal = RequestAnswer.refused(detail: "the run has ended")
    switch event {
    case .request(let request, let connection):
      answers.append(connection, request.id, refusal, line: 0)
    case .extend(let late): answers.append(late.connection, late.entry.id, refusal, line: 0)
    default: break
    }
  }

  /// Must be called once, first.
  package mutating func begin(at now: Instant, wall: Int64) {
    self.wall = wall
    if lines.isEmpty || !journals { start(at: now) }
  }

  private mutating func start(at now: Instant) {
    hasBegun = true
    scheduler.handle(.begin, at: now)
    for event in early { scheduler.handle(event, at: now) }
    early = []
  }

  private mutating func wrote(at now: Instant) {
    precondition(isWriting, "there was nothing to write")
    isWriting = false
    gate.wrote(upTo: end, at: now)
    encoder.removeAll()
    unrecorded = 0
    if !unrecordedAsked.isEmpty { unrecordedAsked.removeAll() }
    if !hasBegun { start(at: now) }
  }

  /// A write or sync is never retried.
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

  /// Stops first, or revoked tasks would start again. Prefetched tasks are revoked before the task
  /// that they follow.
  private mutating func stop(at now: Instant) {
    mustStop = false
    scheduler.handle(.stop(.ioError), at: now)
    for (worker, task, attempt) in gate.retractStarts() {
      if isOver(worker, task, attempt, at: now) { continue }
      scheduler.handle(.revoked(worker, task, attempt: attempt), at: now)
    }
    if !hasBegun { start(at: now) }
  }

  // MARK: - Steps

  package var unwritten: [UInt8] { encoder.bytes }

  package var nextSequence: UInt64 { encoder.nextSequence }

  /// Returns nil to wait for the next fact or `nextWake`.
  package mutating func next(at now: Instant) -> EngineStep? {
    precondition(!isWriting, "the result of the last write is unknown")
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
      guard let (worker, message) = gate.release(at: now) else { break }
      if let (task, attempt) = message.start, isOver(worker, task, attempt, at: now) { continue }
      return .send(worker, message)
    }
    // Tasks that must not be repeated need a sync before they start.
    guard let (place, kind) = gate.takeRequest(at: now) else { return nil }
    return .sync(upTo: place, kind)
  }

  private mutating func isOver(
    _ worker: WorkerID, _ task: TaskID, _ attempt: Int32, at now: Instant
  ) -> Bool { plan.hasExternalTasks && scheduler.dropUnsent(worker, task, attempt, at: now) }

  /// Returns the next step that waits for no write; the caller may take it within its turn.
  @inline(__always)
  package mutating func nextDecision() -> EngineStep? {
    while true {
      if told < lines.count { return nextLine() }
      if scheduler.steps.isEmpty { return nil }
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

  @inline(__always)
  private mutating func nextAction() -> EngineStep? {
    if !journals, !scheduler.steps.firstIs(Self.isOfEnd) { return scheduler.steps.removeFirst() }
    // Removed, not borrowed: the payload is not copied.
    switch scheduler.steps.removeFirst() {
    case .send(let worker, let message): hold(message, for: worker)
    case .finish(let entry):
      closing = hasFailed ? Self.failure : entry
      ending = .dismiss
      lines.append(.close(entry))
    case .tell(let entry):
      write(entry)
      return .tell(entry)
    case .answer(let connection, let id, let answer):
      answers.append(connection, id, answer, line: end)
    case let step: return step
    }
    return nil
  }

  @inline(__always)
  private static func isOfEnd(_ step: borrowing EngineStep) -> Bool {
    switch step {
    case .finish, .answer: true
    case .tell, .began, .launch, .slot, .discard, .retract, .write, .sync, .send, .dismiss,
      .passOn:
      false
    }
  }

  private mutating func write(_ entry: JournalEntry) {
    if case .transition(let transition) = entry, case .success = transition.event {
      unrecorded += 1
    }
    if case .request(let request) = entry { unrecordedAsked.append(request) }
    if !hasFailed { encoder.append(entry, at: wall, plan: plan) }
  }

  private mutating func hold(_ message: WorkerMessage, for worker: WorkerID) {
    var mustNotRepeat = false
    if let (task, _) = message.start {
      mustNotRepeat = plan.flags(task).contains(.failWhenInterrupted)
    }
    gate.hold(message, for: worker, line: end, mustNotRepeat: mustNotRepeat)
  }

  private var writes: Bool { journals && !hasFailed }

  private var end: UInt64 { gate.written + UInt64(encoder.bytes.count) }

  /// Ends the session if only services are left that the next session takes over.
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
      gate.removeMessages()
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

  package var nextWake: Instant? {
    let timer = closing == nil ? scheduler.nextWake : nil
    guard let sync = gate.nextWake else { return timer }
    return timer.map { min($0, sync) } ?? sync
  }

  package func isTimerDue(at now: Instant) -> Bool {
    guard closing == nil, let wake = scheduler.nextWake else { return false }
    return wake <= now
  }

  package var restNanoseconds: Int64 { gate.isEmpty ? scheduler.restNanoseconds : 0 }

  /// Returns why tasks cannot be added, or the answer of an earlier identical request.
  ///
  /// - Parameter segment: Must be checked against the plan.
  package func answer(
    toExtension id: RequestID, by segment: Plan, of generator: TaskID = .none
  ) -> RequestAnswer? {
    if closing != nil { return .refused(detail: "the run has ended") }
    if hasFailed { return .refused(detail: "opflow cannot write the journal and ends the run") }
    if let count = count(ofRequest: id) { return .done(count: count) }
    let fault =
      scheduler.fault(ofExtensionBy: generator)
      ?? scheduler.fault(ofSegment: segment, by: generator)
    return fault.map { .refused(detail: $0) }
  }

  package func state(_ task: TaskID) -> TaskState { scheduler.state(task) }

  package var isLeaving: Bool { closing != nil || scheduler.phase.stopCause != nil }

  /// A measure of work: the classes and services that decisions read.
  package var lookCount: Int { scheduler.lookCount }

  package func isOver(_ node: NodeID) -> Bool { closing == nil && scheduler.isOver(node) }

  /// True if only services are left, which stay until the run is stopped.
  package var isServing: Bool { closing == nil && scheduler.isServing }

  package var isPaused: Bool { scheduler.phase.isPaused }

  package var heldServices: [HeldService] { isServing ? scheduler.heldServices : [] }

  package var servicesAreUp: Bool { scheduler.heldServices.count == scheduler.runningServices }

  package var servicesWithoutRoom: [TaskID] { isServing ? scheduler.servicesWithoutRoom : [] }

  /// Successes missing in a failed journal; a resume runs those tasks again.
  package var unrecordedSuccesses: Int { hasFailed ? unrecorded : 0 }

  /// Reported requests missing in a failed journal: they have no effect.
  package var unrecordedRequests: [RequestEntry] { hasFailed ? unrecordedAsked : [] }

  /// The local `cpu` wanted from other runs, and the `cpu` that they can have.
  package func processorShare(at now: Instant) -> (wanted: UInt64, spare: UInt64) {
    closing == nil ? scheduler.processorShare(at: now) : (0, .max)
  }

  package var isClosing: Bool { closing != nil }

  /// Scans everything.
  package func checkInvariants() -> String? { scheduler.checkInvariants() }
}

package struct ResumeState: Sendable {
  package var initial: [InitialState]
  /// The last attempt in earlier sessions, by task.
  package var attempts: [Int32]
  /// Attempts of removed tasks, by name: they may be added again.
  package var attemptsOfRemoved: [String: Int32] = [:]
  /// An earlier session started tasks and ended before the `finally` tasks.
  package var owesFinally: Bool
  package var ranBefore = false
  /// Durations influence the order only.
  package var durations: TaskDurations
  /// With the strings that an `if` may read.
  package var values: [TaskID: ValueSet] = [:]
  package var arguments: TaskArguments?
  package var priorities: [TaskID: Int16] = [:]
  /// Applied requests with their numbers of tasks.
  package var requests: [RequestID: Int] = [:]
  /// Requests that are still valid.
  package var standing = StandingRequests()
  /// Set if this session continues the previous one.
  package var triesUsed: [TaskID: TriesUsed] = [:]
  /// Approvals from an earlier session that died before the task ended.
  package var approved: Set<TaskID> = []
  package var results: [TaskID: EarlierResult] = [:]
  /// The origins of valid successes, in a plan with checks.
  package var origins: [TaskID: UInt64] = [:]
  /// Services among them stay up.
  package var named: TaskSet?
  /// The first workers, in this order.
  package var held: [HeldService] = []
  package var openness = RunOpenness.ordinary
  package var run: UInt64 = 0
  /// Run even if up to date.
  package var asked: TaskSet?

  /// Returns the origin number of a success that recorded none.
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

/// Holds answers to requests until their journal lines are written.
struct AnswerGate: Sendable {
  private struct Held {
    var connection: ConnectionID
    var request: RequestID
    var answer: RequestAnswer
    /// The journal offset to wait for.
    var line: UInt64
  }

  private var held: [Held] = []
  private var hasFailed = false

  mutating func append(
    _ connection: ConnectionID, _ request: RequestID, _ answer: RequestAnswer, line: UInt64
  ) {
    let entry = Held(connection: connection, request: request, answer: answer, line: line)
    held.append(hasFailed ? Self.untold(entry) : entry)
  }

  @inline(__always)
  mutating func release(upTo place: UInt64) -> EngineStep? {
    guard let first = held.first, first.line <= place else { return nil }
    held.removeFirst()
    return .answer(first.connection, first.request, first.answer)
  }

  /// Refuses all answers beyond `place`, since a resume will not know those requests.
  mutating func fail(beyond place: UInt64) {
    hasFailed = true
    for index in held.indices where held[index].line > place {
      held[index] = Self.untold(held[index])
    }
  }

  private static func untold(_ entry: Held) -> Held {
    var entry = entry
    entry.line = 0
    if case .done = entry.answer {
      entry.answer = .refused(detail: "opflow cannot write the journal and ends the run")
    }
    return entry
  }
}
