/// What a drive would do if every task succeeded and took as long as any other: the scheduler
/// itself, played with workers that are always ready.
package struct StartForecast {
  /// In the order of their starts.
  package private(set) var starts: [TaskID] = []
  /// Skips, and failures of tasks that an earlier crash interrupted, in the order they are told.
  package private(set) var settled: [Transition] = []

  private var scheduler: Scheduler
  private var actions: [SchedulerAction] = []
  /// What runs, in the order of the starts; ended first in, first out.
  private var running: [(worker: WorkerID, task: TaskID, attempt: Int32)] = []
  private var isFinished = false

  package init(
    plan: Plan, options: SchedulerOptions, initial: [InitialState], attempts: [Int32]
  ) {
    var options = options
    options.handsAhead = false
    // A failure that is carried over must not hide what would follow it.
    options.maxFailures = 0
    scheduler = Scheduler(plan: plan, options: options, initial: initial, attempts: attempts)
    tell(.begin)
    var next = 0
    while !isFinished, next < running.count {
      let (worker, task, attempt) = running[next]
      next += 1
      tell(.ended(worker, task, attempt: attempt, Outcome(status: .success)))
    }
  }

  private mutating func tell(_ event: SchedulerEvent) {
    var events = [event]
    var next = 0
    while next < events.count {
      actions.removeAll(keepingCapacity: true)
      scheduler.handle(events[next], at: Instant(nanoseconds: 0), into: &actions)
      next += 1
      for action in actions { perform(action, &events) }
    }
  }

  private mutating func perform(_ action: SchedulerAction, _ events: inout [SchedulerEvent]) {
    switch action {
    case .journal(let transition): note(transition)
    case .launch(let worker, _): events.append(.workerReady(worker))
    case .order(let worker, .run(let task, let attempt)):
      running.append((worker, task, attempt))
      events.append(.started(worker, task, attempt: attempt))
    case .finish: isFinished = true
    case .order, .discard: break
    }
  }

  private mutating func note(_ transition: Transition) {
    switch transition.event {
    case .start: starts.append(transition.task)
    case .skip, .failure: settled.append(transition)
    case .success, .retry, .cancel, .interrupt, .pause, .proceed, .resume: break
    }
  }
}
