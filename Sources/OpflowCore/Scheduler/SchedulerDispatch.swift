extension Scheduler {
  /// Starts what may start: the best ready task first, as far as resources and workers go. The
  /// first one that does not fit keeps what it wants from all that come after it.
  mutating func dispatch(at now: Instant, into actions: inout [SchedulerAction]) {
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
    _ task: TaskID, to worker: WorkerID, at now: Instant, into actions: inout [SchedulerAction]
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
    into actions: inout [SchedulerAction]
  ) {
    set(task, .running)
    attempt[task.index] += 1
    startedAny = true
    actions.append(.journal(Transition(.start, task, attempt: attempt[task.index])))
    if phase == .finally, !workers[worker.index].knowsRunState {
      workers[worker.index].knowsRunState = true
      actions.append(.order(worker, .conclude(runState)))
    }
    let number = attempt[task.index]
    actions.append(
      .order(
        worker, isAhead ? .follow(task, attempt: number) : .run(task, attempt: number)))
  }

  // MARK: - Handing ahead

  /// Hands the next tasks to workers that are busy with short ones, so that a worker need not wait
  /// for the coordinator between two tasks. Only behind a task of the same demand, whose resources
  /// the next one takes over, and only where no better task can become ready by that one's end.
  private mutating func handAhead(from demand: Int, into actions: inout [SchedulerAction]) {
    guard phase == .main, stopCause == nil, !isHalted, !isKilled, let rank = ready.head(demand)
    else { return }
    let kind = workerKind(of: TaskID(ranking.task[Int(rank)]))
    let fleet = fleets[Int(kind.rawValue)]
    guard fleet.meanWallMicroseconds < SchedulerOptions.shortTaskMicroseconds else { return }
    // One more for each of them in turn, so that all have as much before them.
    for count in 0..<fleet.maxAhead {
      for worker in aliveWorkers {
        guard workers[worker.index].kind == kind, workers[worker.index].ahead.count == count else {
          continue
        }
        handAhead(from: demand, to: worker, into: &actions)
      }
    }
  }

  private mutating func handAhead(
    from demand: Int, to worker: WorkerID, into actions: inout [SchedulerAction]
  ) {
    let record = workers[worker.index]
    guard record.phase == .busy, !record.current.isNone, !record.isStopping,
      !record.isDiscarded, Int(plan.demand[record.current.index]) == demand,
      let rank = ready.head(demand)
    else { return }
    let task = TaskID(ranking.task[Int(rank)])
    guard !plan.flags(task).contains(.failWhenInterrupted), workerKind(of: task) == record.kind,
      !endCouldUnlockBetter(than: rank, endOf: record.current),
      !record.ahead.contains(where: { endCouldUnlockBetter(than: rank, endOf: $0.task) })
    else { return }
    _ = ready.pop(demand)
    heldByWorkers += 1
    aheadCount += 1
    workers[worker.index].ahead.append(HandedAhead(task: task))
    start(task, on: worker, isAhead: true, into: &actions)
  }

  private func endCouldUnlockBetter(than rank: Int32, endOf task: TaskID) -> Bool {
    let dependents = plan.dependents(task)
    if dependents.count > SchedulerOptions.maxDependentsLookedAt { return true }
    return dependents.contains { edge in
      let dependent = Int(plan.dependentTargets[edge])
      return unmet[dependent] == 1 && ranking.rank[dependent] < rank
    }
  }

  /// Asks for tasks back that were handed ahead and would now start earlier elsewhere, or that a
  /// better one should go before.
  private mutating func takeBackAhead(into actions: inout [SchedulerAction]) {
    let best = ready.first ?? .max
    for worker in aliveWorkers {
      let record = workers[worker.index]
      guard let last = record.ahead.indices.last, !record.isDiscarded else { continue }
      let demand = Int(plan.demand[record.ahead[last].task.index])
      // The last one is the one that would have to wait longest.
      if fleets[Int(record.kind.rawValue)].couldStartAnother, pool.fits(demand) {
        revokeAhead(last, of: worker, into: &actions)
      }
      for place in record.ahead.indices
      where best < ranking.rank[record.ahead[place].task.index] {
        revokeAhead(place, of: worker, into: &actions)
      }
    }
  }

  /// Asks for a task back, once.
  mutating func revokeAhead(
    _ place: Int, of worker: WorkerID, into actions: inout [SchedulerAction]
  ) {
    guard !workers[worker.index].ahead[place].isRevoking else { return }
    workers[worker.index].ahead[place].isRevoking = true
    let task = workers[worker.index].ahead[place].task
    actions.append(.order(worker, .revoke(task, attempt: attempt[task.index])))
  }
}
