/// What a drive would do if every task succeeded and took as long as it is taken to, and every question were
/// approved at once.
package struct RunForecast {
  /// In the order of their starts.
  package fileprivate(set) var starts: [TaskID] = []
  /// Skips, and failures of tasks that an earlier crash interrupted, in the order they are told.
  package fileprivate(set) var settled: [Transition] = []
  /// What was found of files; nothing where nobody looks at them.
  package fileprivate(set) var files = FilesForeseen()
  /// From the first start to the last end, in what `TaskDurations` counts in.
  package fileprivate(set) var makespan: Int64 = 0

  fileprivate init() {}

  /// - Parameter foresight: without it every task is taken to run that is checked by content.
  package init(
    plan: Plan, options: SchedulerOptions, entering: Entering, foresight: FileForesight? = nil
  ) {
    var player = ForecastPlayer(
      plan: plan, options: options, entering: entering, foresight: foresight)
    player.play()
    self = player.found
  }
}

/// The engine, played with workers that are ready at once, on an imagined clock. Linear in the plan, but for the queue
/// of the tasks that run at once.
private struct ForecastPlayer: ~Copyable {
  private(set) var found = RunForecast()
  private let foresight: FileForesight?
  /// By task, whether it found.starts.
  private var isStarted: [Bool] = []
  /// Those that would have kept their results, had nothing run that they need.
  private var taken: Set<TaskID> = []

  private let durations: TaskDurations
  /// How long one of what `TaskDurations` counts in lasts on the clock.
  private let unitNanoseconds: Int64
  private var clock = Instant(nanoseconds: 0)
  private var engine: Engine
  /// The ends to come.
  private var running = BinaryHeap<ForecastEnd>()
  private var isFinished = false

  init(
    plan: Plan, options: SchedulerOptions, entering: Entering, foresight: FileForesight?
  ) {
    self.foresight = foresight
    if foresight != nil { isStarted = [Bool](repeating: false, count: plan.taskCount) }
    var options = options
    options.handsAhead = false
    options.lendsTokens = false
    options.watchesWorkers = false
    options.knowsValues = false
    // A failure that is carried over must not hide what would follow it.
    options.maxFailures = 0
    durations = entering.durations
    unitNanoseconds = durations.areKnown ? 1000 : Self.taskNanoseconds
    engine = Engine(
      plan: plan, options: options,
      entering: entering,
      journal: nil)
  }

  mutating func play() {
    engine.begin(at: clock, wall: 0)
    perform()
    if engine.plan.hasBlocks { offerBlocks() }
    goOn()
    found.makespan = clock.nanoseconds / unitNanoseconds
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

  /// Where each task counts as one: so long that what the scheduler itself waits for, such as a download
  /// that does not end before it starts one more worker, makes no further one.
  private static let taskNanoseconds: Int64 = 100_000_000_000

  private mutating func tell(_ event: SchedulerEvent) {
    engine.take(.scheduler(event), at: clock, wall: 0)
    perform()
  }

  /// A program is there that has all of them.
  private mutating func offerBlocks() {
    let program = HostID(0)
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
        engine.take(.scheduler(.workerReady(worker, offer)), at: clock, wall: 0)
      case .order(let worker, .run(let task, let attempt)) where engine.plan.isService(task):
        // It is ready at once, and ends when it is told to.
        for event in [
          SchedulerEvent.started(worker, task, attempt: attempt),
          .ready(
            worker, task, attempt: attempt,
            ports: engine.plan.portNames(of: task).map { _ in 1 }),
        ] {
          engine.take(.scheduler(event), at: clock, wall: 0)
        }
      case .order(let worker, .stop(let task, let attempt, let reason)):
        let outcome = Outcome(status: .unknown, reason: .stopped(reason))
        engine.take(
          .scheduler(.ended(worker, task, attempt: attempt, outcome)), at: clock, wall: 0)
      case .order(let worker, .run(let task, let attempt)):
        running.push(
          ForecastEnd(
            at: end(of: task), order: found.starts.count, worker: worker, task: task,
            attempt: attempt))
        engine.take(.scheduler(.started(worker, task, attempt: attempt)), at: clock, wall: 0)
      case .order(let worker, .check(let check)):
        answer(check, to: worker)
      case .finish: isFinished = true
      // Nothing is added to it.
      case .tell, .order, .answer, .began, .seat, .discard, .withdraw, .write, .sync, .dismiss,
        .passOn:
        break
      }
    }
  }

  private mutating func answer(_ check: TaskCheck, to worker: WorkerID) {
    let (task, serial) = (check.task, check.serial)
    var result = CheckResult.stale(why: "")
    let running = foresight == nil ? [] : runningNeeds(of: task)
    let before = RunBefore(
      needs: running, isUnsure: areUnsure(running), isStarted: isStarted)
    switch foresight?(check, before) {
    case nil: break
    case .fresh(let origin, let values):
      for value in values {
        engine.take(
          .scheduler(.keptValue(worker, task, serial: serial, value)), at: clock, wall: 0)
      }
      result = .fresh(origin: origin)
    case .stale(let why, let isCached):
      if isCached { found.files.cached.insert(task) }
      if !why.isEmpty { found.files.reasons[task] = why }
      result = .stale(why: why)
    case .unsure: found.files.unsure[task] = running.first
    case .unfit(let what): result = .unfit(what: what)
    }
    engine.take(.scheduler(.checked(worker, task, serial: serial, result)), at: clock, wall: 0)
  }

  private func runningNeeds(of task: TaskID) -> [TaskID] {
    engine.plan.needs(task).map { TaskID(engine.plan.needTargets[$0]) }
      .filter { isStarted[$0.index] }
  }

  /// Whether all of some tasks that run may turn out not to.
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
    guard let id = OrderID("\(end.task.rawValue)") else { return }
    var order = Order(
      id: id, asker: OrderAsker(pid: 0, user: 0, name: "forecast"), verb: .approve)
    order.tasks = [end.task]
    tell(.order(order, from: ClientID(0)))
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
      guard engine.plan.hasGates, engine.plan.kind(task) == .approve else { return }
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

/// The end of a task that runs.
private struct ForecastEnd: HeapElement {
  var at: Instant
  /// Of two that end at once the one that started first.
  var order: Int
  var worker: WorkerID
  var task: TaskID
  var attempt: Int32

  func isBefore(_ other: ForecastEnd) -> Bool { (at, order) < (other.at, other.order) }
}
