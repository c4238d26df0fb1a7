extension Scheduler {
  /// Starts what may start: the best ready task first, as far as resources and workers go. The
  /// first one that does not fit keeps what it wants from all that come after it.
  mutating func dispatch(at now: Instant, into actions: inout [EngineStep]) {
    guard !isSuspended, ready.count > 0 || aheadCount > 0 else { return }
    pool.clearReservation()
    var hasReservation = false
    var firstBlocked: Int?
    while let demand = ready.best, let rank = ready.head(demand) {
      if !pool.fits(demand) {
        if firstBlocked == nil { firstBlocked = demand }
        if !hasReservation {
          pool.reserve(demand)
          hasReservation = true
        }
        ready.block()
        if !pool.mayFitMore || ready.blockedCount == SchedulerOptions.maxBlocked { break }
        continue
      }
      let task = TaskID(ranking.task[Int(rank)])
      let kind = workerKind(of: task)
      guard let worker = workerForStart(kind, at: now, into: &actions) else {
        if firstBlocked == nil { firstBlocked = demand }
        ready.block()
        if ready.blockedCount == SchedulerOptions.maxBlocked { break }
        continue
      }
      _ = ready.pop(demand)
      pool.take(demand)
      assign(task, to: worker, at: now, into: &actions)
    }
    if aheadCount > 0 { takeBackAhead(into: &actions) }
    if let firstBlocked, options.handsAhead { handAhead(from: firstBlocked, into: &actions) }
    ready.unblock()
  }

  func workerKind(of task: TaskID) -> WorkerKind {
    switch plan.kind(task) {
    case .shell, .command: .command
    case .download: .download
    }
  }

  /// Gives a task to a worker that is free, or reserves it for one that is being launched.
  private mutating func assign(
    _ task: TaskID, to worker: WorkerID, at now: Instant, into actions: inout [EngineStep]
  ) {
    heldByWorkers += 1
    workers[worker.index].current = task
    switch workers[worker.index].phase {
    case .launching: break
    case .idle:
      workers[worker.index].phase = .busy
      fleets[Int(workers[worker.index].kind.rawValue)].noteStart(at: now)
      start(task, on: worker, into: &actions)
    case .busy, .gone: preconditionFailure("a task was given to a worker that cannot take it")
    }
  }

  mutating func start(
    _ task: TaskID, on worker: WorkerID, isAhead: Bool = false,
    into actions: inout [EngineStep]
  ) {
    set(task, isAhead ? .handed : .running)
    attempt[task.index] += 1
    startedAny = true
    var transition = Transition(.start, task, attempt: attempt[task.index])
    transition.worker = worker
    transition.isAhead = isAhead
    actions.append(.tell(.transition(transition)))
    if phase == .finally, !workers[worker.index].knowsRunState {
      workers[worker.index].knowsRunState = true
      actions.append(.order(worker, .conclude(runState)))
    }
    let number = attempt[task.index]
    actions.append(
      .order(
        worker, isAhead ? .follow(task, attempt: number) : .run(task, attempt: number)))
  }
}
