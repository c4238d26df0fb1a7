package import OpflowJournal
package import OpflowPlan
internal import OpflowWire

/// The forecast of a session whose tasks all succeed on time and whose approvals are all given.
package struct RunForecast {
  /// In order.
  package fileprivate(set) var starts: [TaskID] = []
  /// Skips, and failures of interrupted tasks.
  package fileprivate(set) var settled: [Transition] = []
  /// Empty without `foresight`.
  package fileprivate(set) var files = FilesForeseen()
  /// In the units of `TaskDurations`.
  package fileprivate(set) var makespan: Int64 = 0
  /// See `Engine.lookCount`.
  package fileprivate(set) var lookCount = 0

  fileprivate init() {}

  /// - Parameter foresight: without it every checked task runs.
  package init(
    plan: Plan, options: SchedulerOptions, resumeState: ResumeState, foresight: FileForesight? = nil
  ) {
    var player = ForecastPlayer(
      plan: plan, options: options, resumeState: resumeState, foresight: foresight)
    player.play()
    self = player.found
  }
}

/// Runs the engine on a simulated clock with workers that are ready at once.
private struct ForecastPlayer: ~Copyable {
  private(set) var found = RunForecast()
  private let foresight: FileForesight?
  /// Whether a task is in `found.starts`.
  private var isStarted: [Bool] = []
  /// Tasks that lost an earlier result because a dependency runs.
  private var taken: Set<TaskID> = []

  private let durations: TaskDurations
  /// Of `TaskDurations`.
  private let unitNanoseconds: Int64
  private var clock = Instant(nanoseconds: 0)
  private var engine: Engine
  private var running = BinaryHeap<ForecastEnd>()
  private var isFinished = false

  init(plan: Plan, options: SchedulerOptions, resumeState: ResumeState, foresight: FileForesight?) {
    self.foresight = foresight
    if foresight != nil { isStarted = [Bool](repeating: false, count: plan.taskCount) }
    var options = options
    options.prefetches = false
    options.lendsTokens = false
    options.watchesWorkers = false
    options.knowsValues = false
    options.maxFailures = 0
    durations = resumeState.durations
    unitNanoseconds = durations.areKnown ? 1000 : Self.taskNanoseconds
    engine = Engine(plan: plan, options: options, resumeState: resumeState, journal: nil)
  }

  mutating func play() {
    engine.begin(at: clock, wall: 0)
    perform()
    if engine.plan.hasExternalTasks { offerExternalTasks() }
    goOn()
    found.makespan = clock.nanoseconds / unitNanoseconds
    found.lookCount = engine.lookCount
  }

  private mutating func goOn() {
    while !isFinished {
      if let wake = engine.nextWake, running.first.map({ wake < $0.at }) ?? true {
        clock = max(clock, wake)
        tell(.timer)
      } else if let next = running.pop() {
        clock = next.at
        end(next)
      } else {
        return
      }
    }
  }

  /// The length of one unit, longer than the scheduler's own timers, which would add workers.
  private static let taskNanoseconds: Int64 = 100_000_000_000

  private mutating func tell(_ event: SchedulerEvent) {
    engine.handle(.scheduler(event), at: clock, wall: 0)
    perform()
  }

  /// Simulates a client that offers all external tasks.
  private mutating func offerExternalTasks() {
    let program = ClientID(0)
    tell(.block(program, .joined))
    for index in engine.plan.tasks where engine.plan.kind(TaskID(index)) == .block {
      tell(.block(program, .offers(TaskID(index))))
    }
  }

  private mutating func perform() {
    while let step = engine.next(at: clock) {
      switch step {
      case .tell(.transition(let transition)): note(transition)
      case .launch(let worker, _, _):
        let offer = WorkerOffer(cores: 1, actions: .all)
        engine.handle(.scheduler(.workerReady(worker, offer)), at: clock, wall: 0)
      case .order(let worker, .run(let task, let attempt)) where engine.plan.isService(task):
        // A service ends when told to.
        for event in [
          SchedulerEvent.started(worker, task, attempt: attempt),
          .ready(
            worker, task, attempt: attempt, ports: engine.plan.portNames(of: task).map { _ in 1 }),
        ] { engine.handle(.scheduler(event), at: clock, wall: 0) }
      case .order(let worker, .stop(let task, let attempt, let reason)):
        let outcome = Outcome(status: .unknown, reason: .stopped(reason))
        engine.handle(
          .scheduler(.ended(worker, task, attempt: attempt, outcome)), at: clock, wall: 0)
      case .order(let worker, .run(let task, let attempt)):
        running.push(
          ForecastEnd(
            at: end(of: task), order: found.starts.count, worker: worker, task: task,
            attempt: attempt))
        engine.handle(.scheduler(.started(worker, task, attempt: attempt)), at: clock, wall: 0)
      case .order(let worker, .check(let check)): answer(check, to: worker)
      case .finish: isFinished = true
      case .tell, .order, .answer, .began, .slot, .discard, .retract, .write, .sync, .dismiss,
        .passOn:
        break
      }
    }
  }

  private mutating func answer(_ check: TaskCheck, to worker: WorkerID) {
    let (task, serial) = (check.task, check.serial)
    var result = CheckResult.stale(why: "")
    let running = foresight == nil ? [] : runningNeeds(of: task)
    let before = RunBefore(needs: running, isUnsure: areUnsure(running), isStarted: isStarted)
    switch foresight?(check, before) {
    case nil: break
    case .fresh(let origin, let values):
      for value in values {
        engine.handle(
          .scheduler(.keptValue(worker, task, serial: serial, value)), at: clock, wall: 0)
      }
      result = .fresh(origin: origin)
    case .stale(let why, let isCached):
      if isCached { found.files.cached.insert(task) }
      if !why.isEmpty { found.files.reasons[task] = why }
      result = .stale(why: why)
    case .unsure: found.files.unsure[task] = running.first
    case .unfit(let detail): result = .unfit(detail: detail)
    }
    engine.handle(.scheduler(.checked(worker, task, serial: serial, result)), at: clock, wall: 0)
  }

  private func runningNeeds(of task: TaskID) -> [TaskID] {
    engine.plan.needs(task).map { TaskID(engine.plan.needTargets[$0]) }
      .filter { isStarted[$0.index] }
  }

  private func areUnsure(_ tasks: [TaskID]) -> Bool {
    !tasks.isEmpty && tasks.allSatisfy { found.files.unsure[$0] != nil }
  }

  private mutating func noteStart(of task: TaskID) {
    isStarted[task.index] = true
    guard taken.remove(task) != nil else { return }
    let running = runningNeeds(of: task)
    if areUnsure(running) { found.files.unsure[task] = running[0] }
  }

  private mutating func end(_ end: ForecastEnd) {
    if end.worker != .none {
      return tell(.ended(end.worker, end.task, attempt: end.attempt, Outcome(status: .success)))
    }
    guard let id = RequestID("\(end.task.rawValue)") else { return }
    var order = ControlRequest(
      id: id, requester: Requester(pid: 0, user: 0, name: "forecast"), verb: .approve)
    order.tasks = [end.task]
    tell(.order(order, from: ConnectionID(0)))
  }

  private func end(of task: TaskID) -> Instant {
    let length = durations[task].multipliedReportingOverflow(by: unitNanoseconds)
    let end = clock.nanoseconds.addingReportingOverflow(length.partialValue)
    return Instant(nanoseconds: length.overflow || end.overflow ? .max : end.partialValue)
  }

  private mutating func note(_ transition: Transition) {
    switch transition.event {
    case .start:
      let task = transition.task
      found.starts.append(task)
      if foresight != nil { noteStart(of: task) }
      guard engine.plan.hasApprovals, engine.plan.kind(task) == .approve else { return }
      running.push(
        ForecastEnd(
          at: end(of: task), order: found.starts.count, worker: .none, task: task,
          attempt: transition.attempt))
    case .skip, .failure: found.settled.append(transition)
    case .fresh:
      if transition.kept == nil {
        found.files.upToDate.append(transition.task)
      } else {
        found.files.keptCount += 1
      }
    case .resume(.afterRerun): if foresight != nil { taken.insert(transition.task) }
    case .success, .retry, .cancel, .interrupt, .pause, .proceed, .resume, .ready, .stopping: break
    }
  }
}

private struct ForecastEnd: HeapElement {
  var at: Instant
  /// For ends at the same time.
  var order: Int
  var worker: WorkerID
  var task: TaskID
  var attempt: Int32

  func isBefore(_ other: ForecastEnd) -> Bool { (at, order) < (other.at, other.order) }
}
