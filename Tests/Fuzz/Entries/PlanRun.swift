import OpflowBase
import OpflowEngine
import OpflowJournal
import OpflowPlan
import OpflowWire

/// Runs a plan whose tasks end at once, depending on their names' hashes. Tests the engine's
/// assumptions about valid plans.
struct PlanRun: ~Copyable {
  private let plan: Plan
  private var engine: Engine
  private var now = Instant(nanoseconds: 0)
  private var launched: [WorkerID] = []
  private var held: [WorkerID: [(task: TaskID, attempt: Int32)]] = [:]
  private var order: [WorkerID] = []
  private var isOver = false
  private var events = 0
  private var wasKilled = false

  init(_ plan: Plan) {
    self.plan = plan
    let options = SchedulerOptions(
      maxParallel: 3, memoryBytes: 1 << 30, maxFailures: 0, seed: 1)
    engine = Engine(
      plan: plan, options: options,
      resumeState: ResumeState(
        initial: [InitialState](repeating: .run, count: plan.taskCount),
        attempts: [Int32](repeating: 0, count: plan.taskCount)),
      journal: JournalEncoder())
  }

  mutating func toTheEnd() throws(FuzzFinding) {
    engine.begin(at: now, wall: 1)
    try perform("the beginning")
    try offerExternalTasks()
    while !isOver {
      if let worker = launched.popLast() {
        try tell(.workerReady(worker, WorkerOffer(cores: 1, actions: .all)))
      } else if let worker = order.popLast() {
        try endNext(on: worker)
      } else if let wake = engine.nextWake {
        now = max(now, wake)
        try tell(.timer)
      } else {
        throw FuzzFinding("nothing can happen any more, and the run is not over")
      }
    }
    for task in plan.tasks where !wasKilled {
      try expect(engine.state(TaskID(task)).isTerminal, "task \(task) has not ended")
    }
  }

  /// Connects a client that offers all external tasks.
  private mutating func offerExternalTasks() throws(FuzzFinding) {
    guard plan.hasExternalTasks else { return }
    try tell(.block(ClientID(1), .joined))
    for task in plan.tasks { try tell(.block(ClientID(1), .offers(TaskID(task)))) }
  }

  private mutating func endNext(on worker: WorkerID) throws(FuzzFinding) {
    guard var tasks = held[worker], !tasks.isEmpty else { return }
    let (task, attempt) = tasks.removeFirst()
    held[worker] = tasks
    let roll = Hash.xxh3(plan.nameBytes(task)) % 8
    let outcome = Outcome(status: roll == 0 ? .exit(2) : roll == 1 ? .signal(9) : .success)
    if !tasks.isEmpty, !outcome.isSuccess {
      held[worker] = []
      try tell(.ended(worker, task, attempt: attempt, outcome))
      for (next, attempt) in tasks { try tell(.revoked(worker, next, attempt: attempt)) }
    } else {
      if !tasks.isEmpty { order.append(worker) }
      try tell(.ended(worker, task, attempt: attempt, outcome))
    }
  }

  private mutating func tell(_ event: SchedulerEvent) throws(FuzzFinding) {
    events += 1
    // Tasks may have millions of attempts; the first thousand events are enough.
    if events == 1000 + plan.taskCount * 4 {
      wasKilled = true
      return try tell(.kill)
    }
    try expect(events < 3000 + plan.taskCount * 16, "the run does not come to an end")
    engine.handle(.scheduler(event), at: now, wall: 1)
    try perform("\(event)")
  }

  private mutating func perform(_ event: String) throws(FuzzFinding) {
    if let problem = engine.checkInvariants() {
      throw FuzzFinding("after \(event): \(problem)")
    }
    while let step = engine.next(at: now) { try perform(step) }
  }

  private mutating func perform(_ step: EngineStep) throws(FuzzFinding) {
    switch step {
    case .tell, .began, .answer, .slot, .dismiss, .passOn: break
    // Refused: the added tasks stay.
    case .retract(let retraction): answer(.retracted(retraction))
    case .write: engine.handle(.wrote, at: now, wall: 1)
    case .sync(let place, _): engine.handle(.synced(upTo: place), at: now, wall: 1)
    case .launch(let worker, _, _): launched.append(worker)
    case .send(let worker, .run(let task, let attempt)),
      .send(let worker, .follow(let task, let attempt)):
      held[worker, default: []].append((task, attempt))
      if held[worker]?.count == 1 { order.append(worker) }
    case .send(let worker, .revoke(let task, let attempt)):
      guard let index = held[worker]?.firstIndex(where: { $0 == (task, attempt) }), index > 0
      else { break }
      held[worker]?.remove(at: index)
      answer(.revoked(worker, task, attempt: attempt))
    case .send(let worker, .stop(let task, let attempt, let reason)):
      guard let first = held[worker]?.first, first == (task, attempt) else { break }
      for (next, attempt) in held[worker]?.dropFirst() ?? [] {
        answer(.revoked(worker, next, attempt: attempt))
      }
      held[worker] = []
      answer(
        .ended(
          worker, task, attempt: attempt, Outcome(status: .signal(15), reason: .stopped(reason))))
    case .send(let worker, .pulse): answer(.heard(worker))
    case .send: break
    case .discard(let worker): held[worker] = nil
    case .finish: isOver = true
    }
  }

  /// Delivers a worker's answer; its effects are among the next steps.
  private mutating func answer(_ event: SchedulerEvent) {
    engine.handle(.scheduler(event), at: now, wall: 1)
  }
}
