extension Scheduler {
  /// Starts what may start: the best ready task first, as far as resources and workers go. The
  /// first one that does not fit keeps what it wants from all that come after it.
  mutating func dispatch(at now: Instant, into actions: inout [SchedulerAction]) {
    guard !isSuspended, ready.count > 0 || aheadCount > 0 else { return }
    pool.clearReservation()
    var hasReservation = false
    var firstBlocked: Int?
    pass &+= 1
    while let demand = bestQueue() {
      guard pool.fits(demand), let rank = ready.head(demand) else {
        block(demand)
        if firstBlocked == nil { firstBlocked = demand }
        if !hasReservation {
          pool.reserve(demand)
          hasReservation = true
        }
        continue
      }
      let task = TaskID(ranking.task[Int(rank)])
      let kind = workerKind(of: task)
      guard let worker = workerForStart(kind, at: now, into: &actions) else {
        block(demand)
        if firstBlocked == nil { firstBlocked = demand }
        continue
      }
      _ = ready.pop(demand)
      pool.take(demand)
      assign(task, to: worker, into: &actions)
    }
    if aheadCount > 0 { takeBackAhead(into: &actions) }
    if let firstBlocked, options.handsAhead { handAhead(from: firstBlocked, into: &actions) }
  }

  private mutating func block(_ demand: Int) { blockedInPass[demand] = pass }

  /// The queue whose head is first in order, of those not blocked in this pass.
  private func bestQueue() -> Int? {
    var best: Int?
    var bestRank = Int32.max
    for demand in 0..<ready.demandCount {
      guard let rank = ready.head(demand), rank < bestRank, blockedInPass[demand] != pass else {
        continue
      }
      best = demand
      bestRank = rank
    }
    return best
  }

  func workerKind(of task: TaskID) -> WorkerKind {
    switch plan.kind(task) {
    case .shell, .command: .command
    case .download: .download
    }
  }

  /// Gives a task to a worker that is free, or reserves it for one that is being launched.
  private mutating func assign(
    _ task: TaskID, to worker: WorkerID, into actions: inout [SchedulerAction]
  ) {
    heldByWorkers += 1
    workers[worker.index].current = task
    switch workers[worker.index].phase {
    case .launching: break
    case .idle:
      workers[worker.index].phase = .busy
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
    guard phase == .main, stopCause == nil, !isHalted, !isKilled,
      meanWallMicroseconds < SchedulerOptions.shortTaskMicroseconds
    else { return }
    for worker in aliveWorkers {
      let record = workers[worker.index]
      guard record.phase == .busy, record.ahead.isNone, !record.isStopping, !record.isDiscarded,
        Int(plan.demand[record.current.index]) == demand, let rank = ready.head(demand)
      else { continue }
      let task = TaskID(ranking.task[Int(rank)])
      guard !plan.flags(task).contains(.failWhenInterrupted),
        workerKind(of: task) == record.kind,
        !endCouldUnlockBetter(than: rank, endOf: record.current)
      else { continue }
      _ = ready.pop(demand)
      heldByWorkers += 1
      aheadCount += 1
      workers[worker.index].ahead = task
      start(task, on: worker, isAhead: true, into: &actions)
    }
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
    var best = Int32.max
    for demand in 0..<ready.demandCount {
      if let rank = ready.head(demand) { best = min(best, rank) }
    }
    for worker in aliveWorkers {
      let record = workers[worker.index]
      guard !record.ahead.isNone, !record.isRevoking, !record.isDiscarded else { continue }
      let demand = Int(plan.demand[record.ahead.index])
      let couldStartNow =
        !fleets[Int(record.kind.rawValue)].idle.isEmpty && pool.fits(demand)
      if couldStartNow || best < ranking.rank[record.ahead.index] {
        revokeAhead(of: worker, into: &actions)
      }
    }
  }

  mutating func revokeAhead(of worker: WorkerID, into actions: inout [SchedulerAction]) {
    let task = workers[worker.index].ahead
    workers[worker.index].isRevoking = true
    actions.append(.order(worker, .revoke(task, attempt: attempt[task.index])))
  }
}
