import Fixtures
import OpflowEngine
import OpflowJournal
import OpflowPlan
import OpflowWire
import Testing

/// Runs an engine with simulated workers and a simulated clock.
struct EngineHarness {
  struct Try: Equatable {
    var task: String
    var attempt: Int32
  }

  let own: OwnEngine
  var engine: Engine {
    _read { yield own.engine }
    _modify { yield &own.engine }
  }
  private(set) var plan: Plan
  var now = Instant(nanoseconds: 0)
  /// Messages that each worker has yet to look at.
  var inbox: [WorkerID: [WorkerMessage]] = [:]
  /// Workers that are slots of clients.
  var slots: [WorkerID: ClientID] = [:]
  /// What programs were told, in its order.
  var toPrograms: [WorkerMessage] = []
  var running: [WorkerID: (TaskID, Int32)] = [:]
  var ahead: [WorkerID: [(TaskID, Int32)]] = [:]
  var journal: [Transition] = []
  var started: [Try] = []
  /// Requests that the engine carried out, and its answers, in order.
  var obeyed: [RequestEntry] = []
  var answers: [RequestAnswer] = []
  var launched: [WorkerID] = []
  /// Where each worker is.
  var nodes: [WorkerID: NodeID] = [:]
  /// The CPU count that workers of a node report, if it is not 1.
  var cores: [NodeID: Int] = [:]
  /// Workers that were killed and are not gone yet.
  var dying: [WorkerID] = []
  /// Workers that answer no pulse.
  var unheard: Set<WorkerID> = []
  var close: CloseEntry?
  /// The changes of nodes, and the reasons for which the session stopped by itself.
  var nodeEntries: [NodeEntry] = []
  var stops: [StopEntry] = []
  /// The successes by which those who look at tasks find these up to date; they leave others
  /// unanswered.
  var fresh: [String: UInt64] = [:]
  /// The GPUs that tasks were given last.
  var devices: [String: [Int]] = [:]
  /// Tokens lent to jobservers and requested back, in order.
  var tokens: [(worker: WorkerID, task: TaskID, count: Int32)] = []
  /// Whether the plan's file can be written again.
  var canRename = true
  var retracted: [RetractEntry] = []

  init(
    _ plan: Plan, parallel: UInt64 = 2, maxFailures: Int = 1, initial: [InitialState]? = nil,
    seed: UInt64 = 1, prefetches: Bool = false, usesNodes: Bool = false,
    expectedWall: Int64? = nil, durations: TaskDurations = .unknown,
    gpus: UInt64 = 0, wholeParallel: UInt64? = nil, results: [TaskID: EarlierResult] = [:],
    openness: RunOpenness = .ordinary, ranBefore: Bool = false,
    attemptsOfRemoved: [String: Int32] = [:], triesUsed: [TaskID: TriesUsed] = [:]
  ) {
    self.plan = plan
    var options = SchedulerOptions(
      maxParallel: parallel, memoryBytes: 1 << 30, maxFailures: maxFailures, seed: seed)
    options.prefetches = prefetches
    options.usesNodes = usesNodes
    options.gpus = gpus
    options.wholeParallel = wholeParallel
    if let expectedWall { options.expectedWallMicroseconds = expectedWall }
    var resumeState = ResumeState(
      initial: initial ?? [InitialState](repeating: .run, count: plan.taskCount),
      attempts: [Int32](repeating: 0, count: plan.taskCount), durations: durations)
    resumeState.openness = openness
    resumeState.ranBefore = ranBefore
    resumeState.attemptsOfRemoved = attemptsOfRemoved
    resumeState.triesUsed = triesUsed
    resumeState.results = results
    own = OwnEngine(Engine(plan: plan, options: options, resumeState: resumeState, journal: nil))
    engine.begin(at: now, wall: 0)
    perform("the beginning")
  }

  mutating func tell(_ event: SchedulerEvent) {
    engine.handle(.scheduler(event), at: now, wall: 0)
    perform("\(event)")
  }

  /// Adds tasks to the run, where it takes any.
  ///
  /// - Returns: what is answered.
  @discardableResult
  mutating func add(
    _ id: String, by generator: String? = nil, initial: [InitialState]? = nil,
    _ fill: (inout PlanMaker) -> Void
  ) throws -> RequestAnswer? {
    var maker = PlanMaker()
    fill(&maker)
    let segment = try maker.make()
    let request = try #require(RequestID(id))
    let own = try generator.map { try #require(plan.task(named: $0)) } ?? .none
    if let answer = engine.answer(toExtension: request, by: segment, of: own) {
      return answer
    }
    let growth = try PlanGrowth(of: plan, by: segment)
    plan = try Plan(copying: growth.applied(to: plan.copyOfBytes))
    try plan.validate()
    let requester = Requester(pid: 1, user: 0, name: "opflow add")
    var entry = ExtendEntry(
      id: request, requester: requester, taskCount: plan.taskCount, added: segment.taskCount)
    entry.generator = own
    let resumeState = initial ?? segment.tasks.map { _ in .run }
    let count = answers.count
    tell(
      .extend(
        RunGrowth(plan: plan, entry: entry, initial: resumeState, connection: ConnectionID(1))))
    return answers.count > count ? answers.last : nil
  }

  private mutating func perform(_ event: String) {
    if let problem = engine.checkInvariants() { Issue.record("after \(event): \(problem)") }
    while let step = engine.next(at: now) { perform(step) }
  }

  private mutating func retract(_ retraction: Retraction) {
    var retraction = retraction
    if canRename {
      do {
        let growth = try PlanGrowth(
          of: plan, retracting: retraction.numbers, attempt: retraction.entry.attempt)
        plan = try Plan(copying: growth.applied(to: []))
        try plan.validate()
        retraction.plan = plan
      } catch {
        Issue.record("\(error)")
      }
    }
    engine.handle(.scheduler(.retracted(retraction)), at: now, wall: 0)
  }

  private mutating func perform(_ step: EngineStep) {
    switch step {
    case .tell(.transition(let transition)):
      journal.append(transition)
      if transition.event == .start {
        started.append(Try(task: plan.nameString(transition.task), attempt: transition.attempt))
      }
    case .slot(let worker, let program): slots[worker] = program
    case .retract(let retraction): retract(retraction)
    case .launch(let worker, _, let node):
      launched.append(worker)
      nodes[worker] = node
    case .send(let worker, let message) where slots[worker] != nil: toPrograms.append(message)
    case .send(let worker, let message):
      if case .devices(let task, let own) = message { devices[plan.nameString(task)] = own.numbers }
      if case .tokens(let task, let count) = message { tokens.append((worker, task, count)) }
      inbox[worker, default: []].append(message)
    case .discard(let worker):
      dying.append(worker)
      inbox[worker] = nil
    case .finish(let entry): close = entry
    case .tell(.request(let request)): obeyed.append(request)
    case .tell(.node(let entry)): nodeEntries.append(entry)
    case .tell(.stop(let entry)): stops.append(entry)
    case .tell(.retract(let entry)): retracted.append(entry)
    case .answer(_, _, let answer): answers.append(answer)
    case .tell, .began, .dismiss, .passOn: break
    case .write, .sync: Issue.record("nothing is to be written")
    }
  }

  /// Lets every launched worker say hello and take up what it was told to run.
  mutating func settle() {
    while true {
      if !dying.isEmpty {
        bury(dying.removeFirst())
      } else if !launched.isEmpty {
        let worker = launched.removeFirst()
        tell(.workerReady(worker, offer(of: worker)))
      } else if !obeyNext() {
        return
      }
    }
  }

  private func offer(of worker: WorkerID) -> WorkerOffer {
    WorkerOffer(cores: nodes[worker].flatMap { cores[$0] } ?? 1, actions: .all)
  }

  /// Lets every worker that is there take up its messages.
  mutating func obeyAll() {
    while obeyNext() {}
  }

  private mutating func obeyNext() -> Bool {
    guard let (worker, messages) = inbox.first(where: { !$0.value.isEmpty }) else { return false }
    inbox[worker] = Array(messages.dropFirst())
    apply(worker, messages[0])
    return true
  }

  /// Lets time pass in which no task ends.
  mutating func wait(milliseconds: Int64) {
    let end = now.advanced(byMilliseconds: milliseconds)
    while let wake = engine.nextWake, wake <= end {
      now = max(now, wake)
      tell(.timer)
      obeyAll()
    }
    now = end
  }

  /// Nothing is left of a worker that was killed.
  mutating func bury(_ worker: WorkerID) {
    running[worker] = nil
    ahead[worker] = nil
    tell(.workerLost(worker, complaint: "it is gone"))
  }

  mutating func apply(_ worker: WorkerID, _ message: WorkerMessage) {
    switch message {
    case .run(let task, let attempt), .follow(let task, let attempt):
      if running[worker] == nil {
        running[worker] = (task, attempt)
      } else {
        ahead[worker, default: []].append((task, attempt))
      }
    case .revoke(let task, let attempt):
      if let place = ahead[worker]?.firstIndex(where: { $0 == (task, attempt) }) {
        ahead[worker]?.remove(at: place)
        tell(.revoked(worker, task, attempt: attempt))
      }
    case .stop(let task, let attempt, let reason):
      guard let held = running[worker], held == (task, attempt) else { return }
      for next in ahead.removeValue(forKey: worker) ?? [] {
        tell(.revoked(worker, next.0, attempt: next.1))
      }
      running[worker] = nil
      tell(
        .ended(
          worker, task, attempt: attempt, Outcome(status: .signal(15), reason: .stopped(reason))))
    case .pulse: if !unheard.contains(worker) { tell(.heard(worker)) }
    case .check(let check):
      guard let origin = fresh[plan.nameString(check.task)] else { return }
      tell(.checked(worker, check.task, serial: check.serial, .fresh(origin: origin)))
    case .suspend, .proceed, .watch, .setRunState, .values, .value, .ports, .tokens, .jobs,
      .devices, .bye:
      break
    }
  }

  /// Ends what the worker runs, as the worker would report it.
  mutating func end(_ worker: WorkerID, _ outcome: Outcome) {
    guard let (task, attempt) = running.removeValue(forKey: worker) else { return }
    var rest = ahead.removeValue(forKey: worker) ?? []
    if outcome.isSuccess, !rest.isEmpty {
      running[worker] = rest.removeFirst()
      ahead[worker] = rest
      rest = []
    }
    tell(.ended(worker, task, attempt: attempt, outcome))
    for next in rest { tell(.revoked(worker, next.0, attempt: next.1)) }
  }

  /// The worker reports that it has no process for its task.
  mutating func lack(_ worker: WorkerID) {
    guard let (task, attempt) = running.removeValue(forKey: worker) else { return }
    let rest = ahead.removeValue(forKey: worker) ?? []
    tell(.lacks(worker, task, attempt: attempt, detail: "no process"))
    for next in rest { tell(.revoked(worker, next.0, attempt: next.1)) }
  }

  /// There is no process for any worker that is to be launched.
  mutating func lackLaunches() {
    let workers = launched
    launched.removeAll()
    for worker in workers {
      tell(.launchFailed(worker, complaint: "no process", isShortage: true))
    }
  }

  /// Ends the named task, which must be running.
  mutating func end(_ name: String, exit code: Int32 = 0) {
    settle()
    let worker = running.first { plan.nameString($0.value.0) == name }?.key
    guard let worker else {
      Issue.record("\(name) does not run")
      return
    }
    var outcome = Outcome(status: .exit(code))
    outcome.usage.wallMicroseconds = 400
    end(worker, outcome)
    settle()
  }

  var runningNames: [String] {
    mutating get {
      settle()
      return running.values.map { plan.nameString($0.0) }.sorted()
    }
  }

  /// Runs to the end: every task ends as `outcome` says, timers come when nothing runs.
  mutating func finish(
    _ outcome: (String, Int32) -> Outcome = { _, _ in Outcome(status: .success) }
  ) {
    var steps = 0
    while close == nil {
      steps += 1
      if steps > plan.taskCount * 50 + 1000 {
        Issue.record("the run does not come to an end")
        return
      }
      settle()
      if let worker = running.keys.min(by: { $0.rawValue < $1.rawValue }),
        let (task, attempt) = running[worker]
      {
        end(worker, outcome(plan.nameString(task), attempt))
      } else if close == nil, let wake = engine.nextWake {
        now = max(now, wake)
        tell(.timer)
      }
    }
  }

  func state(_ name: String) -> TaskState? { plan.task(named: name).map { engine.state($0) } }
  var order: [String] { started.map(\.task) }
}

extension SchedulerEvent {
  /// Of one that can do anything.
  static func workerReady(_ worker: WorkerID) -> SchedulerEvent {
    .workerReady(worker, WorkerOffer(cores: 1, actions: .all))
  }
}
