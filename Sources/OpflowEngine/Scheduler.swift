internal import OpflowBase
internal import OpflowJournal
internal import OpflowPlan
internal import OpflowWire

/// Decides what runs when. A plain value without clock, files or processes; its parts keep their
/// own invariants. Nothing copies it, but it is not `~Copyable`: the compiler's checks of that took
/// most of the time for this module.
struct Scheduler {
  private(set) var now = Instant(nanoseconds: 0)
  /// Not yet taken by the engine.
  let steps = StepQueue()

  var plan: Plan
  let options: SchedulerOptions
  var durations: TaskDurations
  var ranking: Ranking

  var graph: TaskGraph
  var resources: Resources
  var workforce: Workforce
  var machines: Machines
  /// No node has so many GPUs, once no further node comes.
  var beyondDevices: [Int] = []
  var ready: ReadyQueues
  var approvals: Approvals
  var blocks = ExternalTasks()
  var additions = OwnAdditions()
  var checks: Checks
  var services: Services
  /// Services of the previous session.
  let heldBefore: Set<TaskID>
  var loans = Loans()
  /// As of the last dispatch.
  var lacking = Lacking()
  /// In a plan with checks: origins of valid successes, recorded ones of tasks that have not ended,
  /// and the source of new ones.
  var origins: [TaskID: UInt64]
  var recorded: [TaskID: UInt64] = [:]
  var numbers: SplitMix64
  let run: UInt64
  /// Why successes are not recorded, until the tasks end.
  var discarded: [TaskID: String] = [:]
  /// Restored from the cache, until the tasks end.
  var restored: Set<TaskID> = []
  var phase = Phase()

  /// In all sessions; the counts below are of this one.
  var attempt: Table<Int32>
  let attemptsOfRemoved: [String: Int32]
  let standing: StandingRequests
  let triesBefore: [TaskID: TriesUsed]
  var triesUsed: Table<Int32>
  var lostCount: Table<UInt8>
  /// The returns of a task after prefetching.
  var returnCount: Table<UInt8>
  /// Empty in a local run.
  var ranAt: Table<NodeID>
  /// Until the tasks end.
  var fetches: [TaskID: FetchRecord] = [:]
  /// Until the tasks end.
  var leftBehind: [TaskID: LeftBehind] = [:]
  /// Processes that opflow could not end, for messages.
  var leftAlive: [TaskID: String] = [:]
  /// Waits in a row of a kind's first or last worker for a process, and the end of the wait.
  var shortages = 0
  var shortUntil: Instant?
  var values: Values
  var priorities: [TaskID: Int16] = [:]

  var requests: RequestQueue
  var onHold: Set<TaskID> = []
  /// Tasks cancelled by requests.
  var cancelled = 0

  var timers = BinaryHeap<RetryTimer>()
  var withheld: [TaskID: Instant] = [:]
  var random: SplitMix64
  /// The least urgent one on top; some entries are outdated.
  var leastUrgentPrefetched = BinaryHeap<RankedPrefetch>()

  var failures = 0
  var openness: RunOpenness
  /// True if `finally` tasks are due.
  var startedAny: Bool
  let ranBefore: Bool
  var pulseCount: Int32 = 0
  /// Counts ends, and returns because another run had the task; wraps.
  var changeCount: Int32 = 0
  /// A measure of work, for tests.
  var lookCount = 0

  init(plan: Plan, options: SchedulerOptions, resumeState: ResumeState) {
    precondition(resumeState.attempts.count == plan.taskCount)
    self.plan = plan
    self.options = options
    durations = resumeState.durations
    priorities = resumeState.priorities
    ranking = Ranking(plan: plan, durations: durations, priorities: priorities)
    graph = TaskGraph(plan: plan, initial: resumeState.initial, results: resumeState.results)
    services = Services(plan: plan, named: resumeState.named)
    heldBefore = Set(resumeState.held.map(\.service))
    resources = Resources(
      plan: plan, options: options,
      groups: options.usesNodes && plan.hasServices
        ? Self.groups(plan, staying: services.standing.union(heldBefore)) : nil)
    machines = Machines(leastGraceMilliseconds: options.usesNodes ? Self.leastGrace(of: plan) : 0)
    workforce = Workforce(
      options: options, downloads: options.downloads(of: plan), classCount: resources.classCount)
    workforce.setServices(services.all.count)
    ready = ReadyQueues(classCount: resources.classCount)
    approvals = Approvals(approved: resumeState.approved)
    checks = Checks(asked: resumeState.asked)
    origins = resumeState.origins
    numbers = SplitMix64(seed: ~options.seed)
    attempt = Table(resumeState.attempts)
    attemptsOfRemoved = resumeState.attemptsOfRemoved
    standing = resumeState.standing
    triesBefore = resumeState.triesUsed
    triesUsed = Table(repeating: 0, count: plan.taskCount)
    lostCount = Table(repeating: 0, count: plan.taskCount)
    returnCount = Table(repeating: 0, count: plan.taskCount)
    ranAt = Table(repeating: .local, count: options.usesNodes ? plan.taskCount : 0)
    random = SplitMix64(seed: options.seed)
    openness = resumeState.openness
    run = resumeState.run
    startedAny = resumeState.owesFinally
    ranBefore = resumeState.ranBefore
    requests = RequestQueue(known: resumeState.requests)
    values = Values(left: resumeState.values, arguments: resumeState.arguments)
    if !resumeState.held.isEmpty { takeOver(resumeState.held) }
  }

  mutating func handle(_ event: SchedulerEvent, at now: Instant) {
    self.now = now
    guard phase.step != .done else { return }
    switch event {
    case .begin:
      tellKept()
      apply(standing)
      takeOver(triesBefore)
      begin()
      stop(as: standing)
    case .workerReady(let worker, let offer):
      learn(offer, from: worker)
      welcome(worker)
    case .workerLost(let worker, let complaint): lose(worker, complaint: complaint)
    case .launchFailed(let worker, let complaint, let isShortage):
      launchFailed(worker, complaint: complaint, isShortage: isShortage)
    case .started(let worker, let task, let attempt):
      if holds(worker, task, attempt, "started") {
        shortages = 0
        noteStart(of: task, on: worker)
      }
    case .left(let worker, let task, let attempt, let left):
      if holds(worker, task, attempt, "left") { leftBehind[task] = left }
    case .survived(let worker, let left):
      let task = runningTask(of: worker)
      if !task.isNone { leftBehind[task] = left }
    case .fetched(let worker, let task, let attempt, let record):
      if holds(worker, task, attempt, "fetched") { fetches[task] = record }
    case .value(let worker, let task, let attempt, let value):
      if holds(worker, task, attempt, "value") { values.note(value, of: task) }
    case .fault(let worker, let task, let attempt, let detail):
      if holds(worker, task, attempt, "fault") { values.note(fault: detail, of: task) }
    case .ended(let worker, let task, let attempt, let outcome):
      if holds(worker, task, attempt, "ended") {
        ended(worker, task, outcome, detail: "")
      }
    case .refused(let worker, let task, let attempt, let errorNumber, let detail):
      if holds(worker, task, attempt, "refused") {
        let outcome = Outcome(status: .unknown, reason: .refused, errorNumber: errorNumber)
        ended(worker, task, outcome, detail: detail)
      }
    case .recorded(let worker, let task, let attempt, let origin):
      if holds(worker, task, attempt, "recorded") { recorded[task] = origin }
    case .discarded(let worker, let task, let attempt, let detail):
      if holds(worker, task, attempt, "changed") { discarded[task] = detail }
    case .keptValue(let worker, let task, let serial, let value):
      keptValue(worker, task, serial, value)
    case .ready(let worker, let task, let attempt, let ports):
      if holds(worker, task, attempt, "ready") { noteReady(task, on: worker, ports) }
    case .tokens(let worker, let task, let count): returned(count, by: task, on: worker)
    case .restored(let worker, let task, let attempt):
      if holds(worker, task, attempt, "restored") { restored.insert(task) }
    case .checked(let worker, let task, let serial, let result):
      checked(worker, task, serial, result)
    case .revoked(let worker, let task, let attempt): revoked(worker, task, attempt)
    case .lacks(let worker, let task, let attempt, let detail):
      lacks(worker, task, attempt, detail: detail)
    case .block(let program, let fact): take(fact, of: program)
    case .heard(let worker):
      hear(worker)
      return
    case .late(let nanoseconds): postpone(by: nanoseconds)
    case .timer: timer()
    case .stop(let cause): stop(cause)
    case .clientsGone: stopForClients()
    case .endServices(let kept): if isServing { passOn(kept) }
    case .kill: kill()
    case .suspend: suspend()
    case .proceed: proceed()
    case .nodeJoined(let node, let offer, let identity): join(node, offer, identity)
    case .nodeLeaving(let node, let complaint): beginLeaving(node, complaint: complaint)
    case .nodeEnds(let node, let end): setEnd(end, of: node)
    case .nodeSilent(let node, let complaint): silence(node, complaint: complaint)
    case .nodeLost(let node, let complaint): lose(node, complaint: complaint)
    case .nodesKnown:
      machines.areKnown = true
      findBeyondDevices()
    case .nodesExhausted(let complaint):
      machines.noneComing = complaint
      findBeyondDevices()
    case .away(let amount): resources.away = amount
    case .capacity(let resource, let amount): setCapacity(amount, of: resource)
    case .prioritise(let tasks): prioritise(tasks)
    case .request(let request, let connection): requests.append(request, from: connection)
    case .extend(let growth): extend(by: growth)
    case .retracted(let retraction): retract(retraction)
    }
    if !requests.isEmpty {
      returnSetAside()
      apply()
    }
    // A session stopped before it begins checks its services at the beginning.
    if !services.keptOver.isEmpty, phase.step != .begin { attendKept() }
    dispatch()
    advancePhase()
  }

  @inline(__always)
  mutating func tell(_ transition: consuming Transition) {
    steps.append(.tell(.transition(transition)))
  }

  @inline(__always)
  mutating func send(_ message: WorkerMessage, to worker: WorkerID) {
    steps.append(.send(worker, message))
  }

  var nextWake: Instant? {
    var wake = workforce.watch.nextWake(isSuspended: phase.isSuspended)
    func consider(_ at: Instant?) {
      guard let at else { return }
      wake = wake.map { min($0, at) } ?? at
    }
    if !phase.isSuspended { consider(timers.first?.at) }
    consider(approvals.nextDeadline)
    consider(machines.nextLook)
    consider(shortUntil)
    if !phase.isSuspended, !phase.isPaused { consider(loans.wake) }
    for kind in WorkerKind.allCases { consider(workforce.throughputs[kind].slowFrom) }
    return wake
  }

  func state(_ task: TaskID) -> TaskState { graph.state(task) }

  @inline(__always)
  func mayStart(_ task: TaskID) -> Bool {
    if isService(task) { return mayServiceStart(task) }
    return phase.mayStart(
      isFinally: plan.flags(task).contains(.finally), isExempt: graph.has(.exempt, task))
  }

  private func mayServiceStart(_ service: TaskID) -> Bool {
    // Other services start with their users.
    !stands(service)
      ? !phase.isShut : !services.isLeaving && phase.mayStart(isFinally: false, isExempt: false)
  }

  @inline(__always)
  func workerKind(of task: TaskID) -> WorkerKind {
    guard let kind = plan.workerKind(of: task) else {
      preconditionFailure("approvals do not have workers")
    }
    return kind
  }
}

struct RetryTimer: HeapElement {
  var at: Instant
  var task: TaskID

  func isBefore(_ other: RetryTimer) -> Bool { at < other.at }
}
