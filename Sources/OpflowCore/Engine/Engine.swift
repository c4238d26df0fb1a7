/// The whole turn of a drive, pure: facts in; journal lines, launches, orders and requests to sync out,
/// in the order in which they must happen.
///
/// A host tells facts (`take`), then performs steps (`next`) until there are none. That a line is
/// written before what follows from it is done, and synced where that is promised, is kept here: an
/// order comes out when the host has said so, not before.
package struct Engine: ~Copyable {
  package private(set) var plan: Plan
  private var scheduler: Scheduler
  private var encoder: JournalEncoder
  /// Not in a forecast: there everything counts as written.
  private let journals: Bool
  private var gate: OrderGate
  private var answers = AnswerGate()

  /// What the scheduler ordered and is still to be done.
  private var actions = StepQueue()
  /// Lines of the run that are to be written next.
  private var lines: [JournalEntry]
  /// How many of them are.
  private var told = 0
  private var isWriting = false
  private var hasBegun = false
  /// What was told before the first lines were written.
  private var early: [SchedulerEvent] = []
  private var hasFailed = false
  /// Tasks that succeeded since the last lines that are known to be in the file.
  private var unrecorded = 0
  /// Orders since then.
  private var unrecordedAsked: [OrderEntry] = []
  private var mustStop = false
  private var closing: CloseEntry?
  /// What goes on when the drive has ended.
  package private(set) var passesOn: [HeldService] = []
  private var ending = Ending.open
  private var wall: Int64 = 0

  /// What is left to do once the last line is there.
  private enum Ending { case open, dismiss, sync, syncing, finish, over }

  private static let failure = CloseEntry(state: .interrupted, exitCode: 74)

  /// - Parameters:
  ///   - entering: how the tasks enter the drive.
  ///   - journal: goes on behind the last line; nil where nothing is to be written.
  ///   - opening: the lines of the drive's beginning.
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

  /// The task that a worker runs, as far as it has said so; `none` for none.
  package func runningTask(of worker: WorkerID) -> TaskID { scheduler.runningTask(of: worker) }

  /// The number of a task's newest try.
  package func attempt(of task: TaskID) -> Int32 { scheduler.attempt[task.index] }

  /// Of how many tasks an order was that was obeyed; nil for one that was not.
  package func count(ofOrder id: OrderID) -> Int? { scheduler.orders.count(of: id) }

  // MARK: - Facts

  /// Takes in a fact.
  ///
  /// - Parameter wall: milliseconds since the epoch, for the lines that follow from it.
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

  /// The drive is over.
  private mutating func refuse(_ event: SchedulerEvent) {
    let refusal = OrderAnswer.refused(what: "the run has ended")
    switch event {
    case .order(let order, let client): answers.append(client, order.id, refusal, line: 0)
    case .extend(let late): answers.append(late.client, late.entry.id, refusal, line: 0)
    default: break
    }
  }

  /// The drive begins; told once, before anything else.
  package mutating func begin(at now: Instant, wall: Int64) {
    self.wall = wall
    if lines.isEmpty || !journals { start(at: now) }
  }

  /// The lines of the beginning are in the file.
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

  /// Nothing that the journal does not tell of may start, and what runs is stopped. A write or sync
  /// that failed is never tried again.
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

  /// Stops everything, then takes back what was not sent: what is taken back while the run goes on
  /// would start again at once. What was handed ahead goes before what it was to follow.
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

  /// Lines that are still to be written, for `write`.
  package var unwritten: [UInt8] { encoder.bytes }

  /// The number that the next line gets.
  package var nextSequence: UInt64 { encoder.nextSequence }

  /// What is to be done next; nil: nothing, until a fact is told or `nextWake` comes.
  package mutating func next(at now: Instant) -> EngineStep? {
    precondition(!isWriting, "whether the lines are written was not told")
    return nextDecision() ?? nextThatWaits(at: now)
  }

  /// The next step of those that wait for lines or for each other.
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
    // What must not be repeated wants a sync at once.
    guard let (place, kind) = gate.takeRequest(at: now) else { return nil }
    return .sync(upTo: place, kind)
  }

  /// Whether a start that was not sent is of a block that has its end by now.
  private mutating func isOver(
    _ worker: WorkerID, _ task: TaskID, _ attempt: Int32, at now: Instant
  ) -> Bool {
    plan.hasBlocks && scheduler.dropUnsent(worker, task, attempt, at: now, into: &actions)
  }

  /// The next step of those that wait for nothing: a host may take them before its turn ends.
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

  /// Goes on through what the scheduler ordered; nil where that is nothing for the host yet.
  @inline(__always)
  private mutating func nextAction() -> EngineStep? {
    if !journals, !actions.firstIs(Self.isOfEnd) { return actions.removeFirst() }
    // Taken apart, not looked at, so that nothing of it is copied.
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

  /// Whether the engine has to do something of its own for a step that nothing is written for.
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

  /// Where the lines end that there are so far.
  private var end: UInt64 { gate.written + UInt64(encoder.bytes.count) }

  /// Sees whether nothing is left but services that go on, once all is done that follows from what was told.
  ///
  /// - Returns: whether that is so since now.
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
      // No worker has a task any more that an order could be about.
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

  // MARK: - What a host may ask

  /// The moment at which a `timer` event is due or a sync is, if nothing happens before.
  package var nextWake: Instant? {
    let timer = closing == nil ? scheduler.nextWake : nil
    guard let sync = gate.nextWake else { return timer }
    return timer.map { min($0, sync) } ?? sync
  }

  /// Whether `timer` is to be told now.
  package func isTimerDue(at now: Instant) -> Bool {
    guard closing == nil, let wake = scheduler.nextWake else { return false }
    return wake <= now
  }

  /// For how long nobody needs a decision, in nanoseconds; 0 when one may be needed at once.
  package var restNanoseconds: Int64 {
    gate.isEmpty ? scheduler.restNanoseconds : 0
  }

  /// What is answered to who wants to add tasks by that order; nil where they may be added now.
  ///
  /// - Parameters:
  ///   - segment: what is to be added, checked to fit the plan.
  ///   - adder: the task of the run that adds it; `none` for somebody else.
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

  /// Whether the drive comes to its end, and whoever comes now comes too late.
  package var isLeaving: Bool { closing != nil || scheduler.phase.stopCause != nil }

  /// Whether the time of a machine is over, and nothing runs there any more.
  package func isOver(_ site: SiteID) -> Bool { closing == nil && scheduler.isOver(site) }

  /// Nothing is left but services that stay until somebody asks for the end.
  package var isServing: Bool { closing == nil && scheduler.isServing }

  /// Nothing starts until somebody says that it goes on.
  package var isPaused: Bool { scheduler.phase.isPaused }

  /// Services that are up and could go on when this drive ends.
  package var heldServices: [HeldService] { isServing ? scheduler.heldServices : [] }

  /// All of the services that run are ready.
  package var servicesAreUp: Bool { scheduler.heldServices.count == scheduler.runningServices }

  /// Services that are to stay and cannot start beside those that do.
  package var servicesWithoutRoom: [TaskID] { isServing ? scheduler.servicesWithoutRoom : [] }

  /// Tasks that succeeded and that the journal may not tell of, since it cannot be written any more: a
  /// resume runs them again.
  package var unrecordedSuccesses: Int { hasFailed ? unrecorded : 0 }

  /// Orders that were told of, and are not done after all: they could not be written down.
  package var unrecordedOrders: [OrderEntry] { hasFailed ? unrecordedAsked : [] }

  /// How much more of this machine's `cpu` the drive has a use for, of what others have, and how much it has that
  /// it has no use for.
  package func processorShare(at now: Instant) -> (wanted: UInt64, spare: UInt64) {
    closing == nil ? scheduler.processorShare(at: now) : (0, .max)
  }

  /// Whether the drive is over, so that no fact matters any more.
  package var isClosing: Bool { closing != nil }

  /// What is wrong with the engine's own state; nil when nothing is. Looks at everything.
  package func checkInvariants() -> String? { scheduler.checkInvariants() }
}

/// How the tasks of a plan enter a drive.
package struct Entering: Sendable {
  /// One entry a task.
  package var initial: [InitialState]
  /// The number of each task's last try in earlier drives.
  package var attempts: [Int32]
  /// The same by name of tasks that the plan does not have, and that may come to be again.
  package var attemptsOfRemoved: [String: Int32] = [:]
  /// `finally` tasks run though no task starts in this drive: an earlier one that started some ended
  /// before them.
  package var owesFinally: Bool
  /// Something started in an earlier drive.
  package var ranBefore = false
  /// What is known of how long tasks take. It decides the order alone.
  package var durations: TaskDurations
  /// What tasks left for others that keep the result of an earlier drive, with the texts that an `if`
  /// may read.
  package var values: [TaskID: ValueSet] = [:]
  package var arguments: TaskArguments?
  /// What orders of earlier drives gave tasks other priorities than those of the manifest.
  package var priorities: [TaskID: Int16] = [:]
  /// Orders that were obeyed in earlier drives, with how many tasks each held for.
  package var orders: [OrderID: Int] = [:]
  /// What was ordered of the drive before and holds in this one.
  package var standing = StandingOrders()
  /// What tasks have had of their tries, where this drive goes on with the one before.
  package var triesUsed: [TaskID: TriesUsed] = [:]
  /// Gates that were approved by an order of an earlier drive, which died before they had their end.
  package var approved: Set<TaskID> = []
  /// What tasks have that enter as `recheck` or `later`.
  package var results: [TaskID: EarlierResult] = [:]
  /// The numbers of the successes that hold, in a plan with checks.
  package var origins: [TaskID: UInt64] = [:]
  /// Tasks that somebody named: services among them stay.
  package var named: TaskSet?
  /// Services that the drive before left up: the first workers of this one have them, in this order.
  package var held: [HeldService] = []
  /// Whether the run stays open for tasks to come.
  package var openness = RunOpenness.ordinary
  /// A number of the run that no other has, the same in all its drives.
  package var run: UInt64 = 0
  /// Tasks that run however they are checked.
  package var asked: TaskSet?

  /// The number of a success that got none when it came about.
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
