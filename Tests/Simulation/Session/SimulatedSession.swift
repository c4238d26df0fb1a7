import OpflowBase
import OpflowEngine
import OpflowJournal
import OpflowPlan
import OpflowWire

/// A service that stays up after its session.
struct PassedOn {
  var held: HeldService
  var worker: SimulatedWorker
  let name: String
  /// Its end if no session has read it.
  let end: Outcome?
}

/// One session of a run: the real engine and worker decisions with simulated processes, clock and
/// disk. A turn takes facts, then performs the engine's steps; the coordinator may die between any
/// two steps.
struct SimulatedSession {
  enum End {
    case closed(CloseEntry)
    /// Only services that stay up are left; another session will follow.
    case passedOn([PassedOn])
    /// The coordinator died.
    case crashed
  }

  var plan: Plan
  /// The plan for workers.
  let source: PlanSource
  var tasks: [SimulatedManifest.Task] { source.tasks }
  let injector: FaultInjector
  let options: SchedulerOptions
  var initial: [InitialState]
  var owesFinally: Bool

  var random: SplitMix64
  private let own: OwnEngine
  var engine: Engine {
    _read { yield own.engine }
    _modify { yield &own.engine }
  }
  let resumeState: Entry
  var run: UInt64 { resumeState.run }
  let durability: Durability
  /// The results that tasks may keep; `asked` has tasks that must run in any case.
  let results: [TaskID: EarlierResult]
  let asked: TaskSet?
  /// The values of tasks, according to the journal.
  var held: [TaskID: ValueSet]
  var file: SimulatedFile
  var ledger: ExpectedState
  var records: SimulatedRecords
  /// The state of things at each check's request.
  var asks: [Int32: SimulatedRecords.Truth] = [:]
  /// For each task: the key of its last check, and the success that it was compared with.
  var seen: [TaskID: (key: UInt64, origin: UInt64)] = [:]
  /// Tasks in `seen` whose result is in the cache.
  var cached: Set<TaskID> = []
  var truths: [TaskID: SimulatedRecords.Truth] = [:]
  /// The numbers of valid successes.
  var origins: [TaskID: UInt64]
  /// Tasks that kept the result of an earlier session when their turn came.
  var keptLate: Set<TaskID> = []
  /// Reasons for skips in this session.
  var skipped: [TaskID: SkipReason] = [:]
  var now = Instant(nanoseconds: 1_000_000_000)
  var wallMilliseconds = Self.firstWallMilliseconds
  var workers: [SimulatedWorker] = []
  var programs: [SimulatedProgram] = []
  /// Workers that are slots in clients.
  var slots: [WorkerID: ClientID] = [:]
  /// Their numbers start with 1.
  var nodes: [SimulatedNode] = []
  /// A capacity may be lower than a task's demand.
  var isLowered = false
  /// The bytes that the running sync covers, and its place.
  var syncing: (count: Int, place: UInt64)?
  var failedLaunches: [WorkerID] = []
  var closing: CloseEntry?
  private(set) var passing: [HeldService] = []
  /// Some services were requested to stay up.
  private(set) var isToPassOn = false
  private(set) var hasJournalFailed = false
  private(set) var hasBegun = false
  private(set) var steps = 0
  /// Batches that may be added, or nil.
  var growth: SimulatedGrowth?
  /// The length of the journal at the start of the session.
  private let firstByte: Int
  var oracle: Oracle
  var control: Control
  /// For each started task, the values that it reads, or nil.
  private(set) var read: [TaskID: ValueSet?] = [:]
  /// Tasks that were cancelled while the session was stopping.
  private(set) var cutShort: Set<TaskID> = []
  var model: ModelCheck
  /// The session's transitions in order, including those that never reached the file.
  var lines: [SessionLine] = []
  var stopCause: StopCause? { didSet { oracle.isStopping = stopCause != nil } }
  var wasKilled = false
  /// Worker losses and failed launches, for which tasks may fail.
  var lostWorkers = 0
  /// Starts and launches that failed for lack of processes.
  var shortages = 0
  /// All invariants are checked after one in this many events.
  private let checkInterval: Int
  /// Receives a trace for a user who replays a seed.
  var log: ((String) -> Void)?

  init(
    plan: Plan, tasks: [SimulatedManifest.Task], options: SchedulerOptions, injector: FaultInjector,
    resumeState: Entry, opening: [JournalEntry], durability: Durability, encoder: JournalEncoder,
    file: SimulatedFile, ledger: ExpectedState, records: SimulatedRecords, random: SplitMix64,
    checkInterval: Int
  ) {
    self.plan = plan
    source = PlanSource(plan, tasks)
    growth = resumeState.growth
    self.injector = injector
    self.options = options
    initial = resumeState.initial
    self.resumeState = resumeState
    owesFinally = resumeState.owesFinally
    held = resumeState.values
    self.random = random
    self.checkInterval = checkInterval
    firstByte = file.bytes.count
    self.durability = durability
    self.file = file
    self.ledger = ledger
    self.records = records
    (results, asked, origins) = (resumeState.results, resumeState.asked, resumeState.origins)
    var known = ResumeState(
      initial: resumeState.initial, attempts: resumeState.attempts,
      owesFinally: resumeState.owesFinally)
    known.values = resumeState.values
    known.priorities = resumeState.priorities
    known.requests = resumeState.requests
    known.approved = resumeState.approved
    known.results = resumeState.results
    known.origins = resumeState.origins
    known.asked = resumeState.asked
    known.standing = resumeState.standing
    known.triesUsed = resumeState.triesUsed
    known.held = resumeState.held.map(\.held)
    known.run = resumeState.run
    known.ranBefore = resumeState.ranBefore
    known.openness = resumeState.growth?.openness ?? .ordinary
    workers = resumeState.held.map(\.worker)
    control = Control(known: resumeState.requests, session: resumeState.number)
    own = OwnEngine(
      Engine(
        plan: plan, options: options,
        resumeState: known,
        journal: encoder, durability: durability, opening: opening))
    oracle = Oracle(plan: plan, options: options)
    model = ModelCheck(source, initial: resumeState.initial, requests: resumeState.earlierRequests)
  }

  /// Runs to the end or to the crash.
  mutating func run(from clock: Instant) throws(Finding) -> End {
    if !resumeState.held.isEmpty { now = clock }
    try oracle.begin(resumeState, at: now)
    noteRequests(resumeState.standing)
    noteStanding()
    engine.begin(at: now, wall: wallMilliseconds)
    if crashIsDue { return .crashed }
    try decide(after: nil)
    for _ in 0...random.below(3) where !injector.joinsLate { try joinNode() }
    if plan.hasExternalTasks {
      for _ in 0..<(injector.isNone ? 1 : random.below(3)) { comeProgram() }
    }
    while true {
      if crashIsDue { return .crashed }
      // One turn may take several facts.
      if random.chance(60) { try endTurn() }
      if let closing {
        // If the last sync fails, kept services end as in a crash.
        let isPassedOn = isToPassOn && states.contains(.running)
        if oracle.liveCount > 0 || isPassedOn, hasJournalFailed { return .crashed }
        if oracle.liveCount > 0 { throw Finding("the drive closed with processes alive") }
        if !control.open.isEmpty { throw Finding("a request was not answered") }
        try oracle.checkStop(closing)
        return .closed(closing)
      }
      if !passing.isEmpty { return .passedOn(try passOn()) }
      try step()
      if engine.isTimerDue(at: now) { try tell(.timer) }
    }
  }

  var states: [TaskState] { plan.tasks.map { engine.state(TaskID($0)) } }

  /// Services that ever lacked dependents.
  var stoodAlone: Set<TaskID> = []

  private var crashIsDue: Bool { steps >= injector.crashStep }

  /// The number of steps after which a session should have ended.
  var mostSteps: Int { 3000 + plan.taskCount * 120 }

  private mutating func step() throws(Finding) {
    steps += 1
    if steps > mostSteps { throw Finding("the drive does not come to an end") }
    // Undisturbed, clients report long before an external task's timeout.
    now.nanoseconds +=
      Int64(random.below(3_000_000)) / (injector.isNone && plan.hasExternalTasks ? 100 : 1)
    wallMilliseconds += Int64(random.below(3))
    if engine.isServing, random.chance(injector.passesOn ? 40 : 10) {
      return try endServing()
    }
    if try growNow() { return }
    if try disturb() { return }
    var choices = enabledMoves()
    // Undisturbed, no external task waits for its client until its timeout.
    if injector.isNone, choices.contains(where: \.isOfProgram) {
      choices.removeAll { !$0.isOfProgram }
    }
    if !choices.isEmpty { return try make(choices[random.below(choices.count)]) }
    // Requests in flight may enable more moves.
    if try !endTurn(), closing == nil { try waitForTime() }
  }

  /// Ends a serving session: inputs changed, or the user ends it.
  private mutating func endServing() throws(Finding) {
    switch injector.passesOn ? 2 : steps % 3 {
    case 0: try tell(.stop(.signal(2)))
    case 1: try tell(.endServices(but: []))
    default:
      // The last session must end.
      let all = injector.isNone ? [] : engine.heldServices.map(\.service)
      let isWhole = random.chance(50)
      isToPassOn = !all.isEmpty
      try tell(.endServices(but: Set(all.filter { _ in isWhole || random.chance(70) })))
    }
  }

  /// Advances the clock to the next deadline if nothing else can happen.
  private mutating func waitForTime() throws(Finding) {
    var wake = engine.nextWake
    for worker in workers {
      guard worker.phase == .talking, let deadline = worker.deadline else { continue }
      if wake.map({ deadline < $0 }) ?? true { wake = deadline }
    }
    if plan.hasExternalTasks, injector.isNone || random.chance(50), try letProgramsGoOn() { return }
    if random.chance(20), try letGoOfSomething() { return }
    if random.chance(30), try tendNodes() { return }
    if injector.isNone || random.chance(50), try answerSomeApproval() { return }
    if try growAtRest() { return }
    // The user ends a serving run.
    if engine.isServing, injector.passesOn { return try endServing() }
    if engine.isServing { return try tell(.stop(.signal(2))) }
    if let wake {
      now = max(now, wake)
    } else if oracle.isSuspended {
      try tell(.proceed)
    } else if try tendNodes() {
      return
    } else if try letGoOfSomething() {
      return
    } else if plan.hasExternalTasks, try letProgramsGoOn() {
      return
    } else if try answerSomeApproval() {
      return
    } else {
      throw Finding("nothing can happen any more, and the drive is not over")
    }
  }

  /// Passes an event to the engine and performs its decisions.
  mutating func tell(_ event: SchedulerEvent) throws(Finding) {
    guard !engine.isClosing else { return }
    log?("\(event)")
    tell(.scheduler(event))
    if random.below(checkInterval) == 0, let problem = engine.checkInvariants() {
      throw Finding("after \(event): \(problem)")
    }
    try decide(after: event)
  }

  mutating func tell(_ fact: EngineFact) {
    engine.handle(fact, at: now, wall: wallMilliseconds)
  }

  /// Performs steps that need not wait for the end of the turn.
  private mutating func decide(after event: SchedulerEvent?) throws(Finding) {
    var told: [EngineStep] = []
    while let step = engine.nextDecision() {
      told.append(step)
      try perform(step)
    }
    if let event {
      try oracle.checkOrderOfStarts(told, after: event, own.engine, holdsBack: holdsBack)
    }
  }

  mutating func perform(_ step: EngineStep) throws(Finding) {
    switch step {
    case .tell(let entry):
      ledger.add(
        entry, sequence: engine.nextSequence - 1, atMilliseconds: wallMilliseconds,
        end: file.bytes.count + engine.unwritten.count, isWritten: !hasJournalFailed)
      if case .request(let request) = entry {
        model.take(request, atMilliseconds: wallMilliseconds)
        try take(request, end: file.bytes.count + engine.unwritten.count)
      }
      if case .extend(let extend) = entry {
        try control.note(extend.id, end: file.bytes.count + engine.unwritten.count)
      }
      if case .stop(let stop) = entry { try take(stop) }
      if case .node(let node) = entry { try take(node) }
      if case .worker(let worker) = entry { try check(worker) }
      guard case .transition(let transition) = entry else { return }
      model.take(transition, atMilliseconds: wallMilliseconds)
      if transition.event.kind == .resume, transition.isLate {
        log?("    \(transition.brief(plan))")
        if transition.event == .resume(.skippedBefore) {
          try oracle.takeBackSkipped(transition)
        } else {
          try oracle.takeBack(transition.task)
        }
        lines.append(SessionLine(transition: transition, at: now, isRequested: true))
      }
      guard transition.event.kind != .resume else { return }
      try checkFreshness(transition)
      log?("    \(transition.brief(plan))")
      try oracle.take(transition, at: now)
      oracle.noteLine(transition, end: file.bytes.count + engine.unwritten.count)
      note(transition, isRequested: false)
    case .began(let task, let attempt):
      try oracle.begin(task, attempt)
      model.take(Transition(.start, task, attempt: attempt), atMilliseconds: wallMilliseconds)
    case .launch(let worker, let kind, let node): try launch(worker, kind, at: node)
    case .slot(let worker, let program): try takeSlot(worker, in: program)
    case .discard(let worker):
      log?("    \(worker) is given up")
      // A worker of an earlier session gets no further tasks.
      let isDone = worker.index < resumeState.held.count
      let mayBeMute = isBehind(workers[worker.index]) || isUnheard(workers[worker.index])
      if injector.sparesWorkers, !isDone, !mayBeMute {
        throw Finding("a worker was given up that did nothing wrong")
      }
      // Its processes run until `loss` is delivered. A failed launch is reported separately.
      if workers[worker.index].phase != .gone { workers[worker.index].die() }
    case .retract(let retraction): try retract(retraction)
    case .write:
      write(file.bytes.count + engine.unwritten.count)
      if !hasJournalFailed { try model.check(file.bytes) }
    case .sync(let place, let kind): sync(upTo: place, kind)
    case .send(let worker, let message): try send(message, to: worker)
    case .answer(let connection, let id, let answer):
      try control.take(
        connection, id, answer, file: file, mustLast: durability == .each,
        hasJournalFailed: hasJournalFailed)
    case .dismiss: break
    case .finish(let entry): closing = entry
    case .passOn(let held): passing = held
    }
  }

  /// Records the values that a starting task reads; later messages may not change them.
  private mutating func noteRead(by task: TaskID) {
    guard let name = tasks[task.index].reads, let need = plan.task(named: name) else { return }
    let left = held[need] ?? ValueSet(attempt: oracle.attempt(need), [])
    read.updateValue(engine.state(need).holdsValues ? left : nil, forKey: task)
  }

  /// Records a transition.
  mutating func note(_ transition: Transition, isRequested: Bool) {
    if transition.event == .start { noteRead(by: transition.task) }
    if transition.event == .cancel, stopCause != nil { cutShort.insert(transition.task) }
    if transition.event.kind == .resume { cutShort.remove(transition.task) }
    lines.append(SessionLine(transition: transition, at: now, isRequested: isRequested))
  }

  private var holdsBack: Bool {
    stopCause != nil || !control.open.isEmpty
      || options.maxFailures > 0 && oracle.failures >= options.maxFailures
  }

  private mutating func launch(
    _ worker: WorkerID, _ kind: WorkerKind, at node: NodeID
  ) throws(Finding) {
    guard worker.index == workers.count else { throw Finding("a worker's number was given twice") }
    oracle.noteLaunch(of: worker, at: node)
    workers.append(SimulatedWorker(id: worker, kind: kind, node: node, plan: source))
    if injector.launchFailsOneIn > 0, random.below(injector.launchFailsOneIn) == 0 {
      workers[worker.index].phase = .gone
      failedLaunches.append(worker)
    } else {
      tell(.launched(worker, WorkerEntry(pid: 100 + worker.rawValue, startTime: 1, bootID: "boot")))
    }
  }

  // MARK: - The end of a turn

  /// Returns whether there was anything to do.
  @discardableResult
  mutating func endTurn() throws(Finding) -> Bool {
    var didSomething = false
    while !failedLaunches.isEmpty {
      lostWorkers += 1
      didSomething = true
      let worker = failedLaunches.removeFirst()
      let isShortage = shortages < SchedulerOptions.maxShortages && worker.index.isMultiple(of: 2)
      if isShortage { shortages += 1 }
      try tell(.launchFailed(worker, complaint: "no room", isShortage: isShortage))
    }
    while let step = engine.next(at: now) {
      didSomething = true
      try perform(step)
    }
    try checkIdleServices()
    return didSomething
  }

  /// Lets the file grow, at most to this length.
  private mutating func write(_ end: Int) {
    let lines = engine.unwritten
    let room = max(0, min(end, injector.diskRoom) - file.bytes.count)
    file.append(lines.prefix(room))
    ledger.isWritten(upTo: file.bytes.count)
    if room >= lines.count {
      hasBegun = true
      tell(.wrote)
    } else if end >= file.bytes.count {
      failJournal()
    }
  }

  /// The disk is full or broken.
  private mutating func failJournal() {
    hasJournalFailed = true
    if !engine.isClosing { stopCause = .ioError }
    oracle.endHolds()
    tell(.journalFailed)
  }

  private mutating func sync(upTo place: UInt64, _ kind: SyncKind) {
    log?("    sync \(kind) to \(place)")
    if injector.syncFailsOneIn > 0, random.below(injector.syncFailsOneIn) == 0 {
      return failJournal()
    }
    syncing = (file.bytes.count, place)
    // A grouped sync runs in a thread; the coordinator waits for the others.
    if kind != .grouped { endSync() }
  }

  mutating func endSync() {
    guard let (count, place) = syncing else { return }
    syncing = nil
    file.sync(upTo: count)
    tell(.synced(upTo: place))
  }

  private mutating func send(_ message: WorkerMessage, to worker: WorkerID) throws(Finding) {
    if case .check(let check) = message { noteQuestion(check) }
    if isUnheard(worker) { return }
    if let (task, attempt) = message.start {
      if hasJournalFailed {
        throw oracle.fault(task, "it was started after the journal had failed")
      }
      try oracle.checkStart(task, attempt)
      let line = oracle.endOfStart(task)
      if line > file.bytes.count { throw Finding("a task was started before its line was written") }
      let mustLast =
        durability == .each
        || durability == .group && plan.flags(task).contains(.failWhenInterrupted)
      if mustLast, line > file.syncedCount {
        throw Finding("a task was started before its line was synced")
      }
      if durability != .none, file.syncedCount <= firstByte {
        throw Finding("a task was started before the drive's first lines were synced")
      }
    }
    if let program = slots[worker] { return send(message, toSlot: worker, of: program) }
    if case .stop(let task, let attempt, let reason) = message {
      if reason == .unneeded { try oracle.checkUnneeded(task) }
      if oracle.isService(task) { oracle.leaving[task] = attempt }
    }
    try checkPorts(message, to: worker)
    if case .devices(let task, let devices) = message { oracle.stock.give(devices, to: task) }
    workers[worker.index].receive(message, at: now)
  }

  /// The worker has been busy for too long to read all its messages.
  private func isBehind(_ worker: SimulatedWorker) -> Bool {
    guard let since = worker.behindSince else { return false }
    return since.advanced(byMilliseconds: SchedulerOptions.stopSlackMilliseconds) <= now
  }
}
