/// What a drive would do if every task succeeded and took as long as it is taken to: the scheduler
/// itself, played with workers that are ready at once, on an imagined clock. Linear in the plan, but for
/// the queue of the tasks that run at once.
package struct RunForecast {
  /// In the order of their starts.
  package private(set) var starts: [TaskID] = []
  /// Skips, and failures of tasks that an earlier crash interrupted, in the order they are told.
  package private(set) var settled: [Transition] = []
  /// From the first start to the last end, in what `TaskDurations` counts in.
  package var makespan: Int64 { clock.nanoseconds / unitNanoseconds }

  private let durations: TaskDurations
  /// How long one of what `TaskDurations` counts in lasts on the clock.
  private let unitNanoseconds: Int64
  private var clock = Instant(nanoseconds: 0)
  private var scheduler: Scheduler
  private var actions: [SchedulerAction] = []
  private var events: [SchedulerEvent] = []
  /// The ends to come.
  private var running = BinaryHeap<ForecastEnd>()
  private var isFinished = false

  package init(
    plan: Plan, options: SchedulerOptions, initial: [InitialState], attempts: [Int32],
    owesFinally: Bool = false, durations: TaskDurations = .unknown
  ) {
    var options = options
    options.handsAhead = false
    options.watchesWorkers = false
    // A failure that is carried over must not hide what would follow it.
    options.maxFailures = 0
    self.durations = durations
    unitNanoseconds = durations.areKnown ? 1000 : Self.taskNanoseconds
    scheduler = Scheduler(
      plan: plan, options: options, initial: initial, attempts: attempts,
      owesFinally: owesFinally, durations: durations)
    tell(.begin)
    while !isFinished {
      if let wake = scheduler.nextWake, running.first.map({ wake < $0.at }) ?? true {
        clock = max(clock, wake)
        tell(.timer)
      } else if let next = running.pop() {
        clock = next.at
        tell(.ended(next.worker, next.task, attempt: next.attempt, Outcome(status: .success)))
      } else {
        return
      }
    }
  }

  /// Where each task counts as one: so long that what the scheduler itself waits for, such as a download
  /// that does not end before it starts one more worker, makes no further one.
  private static let taskNanoseconds: Int64 = 100_000_000_000

  private mutating func tell(_ event: SchedulerEvent) {
    events.removeAll(keepingCapacity: true)
    events.append(event)
    var next = 0
    while next < events.count {
      actions.removeAll(keepingCapacity: true)
      scheduler.handle(events[next], at: clock, into: &actions)
      next += 1
      for action in actions { perform(action) }
    }
  }

  private mutating func perform(_ action: SchedulerAction) {
    switch action {
    case .journal(let transition): note(transition)
    case .launch(let worker, _): events.append(.workerReady(worker))
    case .order(let worker, .run(let task, let attempt)):
      running.push(
        ForecastEnd(
          at: end(of: task), order: starts.count, worker: worker, task: task, attempt: attempt))
      events.append(.started(worker, task, attempt: attempt))
    case .finish: isFinished = true
    case .order, .discard: break
    }
  }

  private func end(of task: TaskID) -> Instant {
    let length = durations[task].multipliedReportingOverflow(by: unitNanoseconds)
    let end = clock.nanoseconds.addingReportingOverflow(length.partialValue)
    return Instant(nanoseconds: length.overflow || end.overflow ? .max : end.partialValue)
  }

  private mutating func note(_ transition: Transition) {
    switch transition.event {
    case .start: starts.append(transition.task)
    case .skip, .failure: settled.append(transition)
    case .success, .retry, .cancel, .interrupt, .pause, .proceed, .resume: break
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
