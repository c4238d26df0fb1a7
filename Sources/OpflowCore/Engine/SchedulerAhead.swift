/// Handing ahead: a worker that is busy with short tasks has the next ones already.
extension Scheduler {
  /// Hands the next tasks to workers that are busy with short ones, so that a worker need not wait
  /// for the coordinator between two tasks. Only behind a task of the same demand, whose resources
  /// the next one takes over, and only where no much better task can become ready by that one's end.
  mutating func handAhead(from demand: Int, into actions: inout [EngineStep]) {
    guard mayHandAhead, let rank = ready.head(demand) else { return }
    let kind = workerKind(of: TaskID(ranking.task[Int(rank)]))
    let fleet = fleets[Int(kind.rawValue)]
    let depth = fleet.aheadNow(ready: ready.count)
    var least = depth
    for worker in aliveWorkers where workers[worker.index].kind == kind {
      least = min(least, workers[worker.index].ahead.count)
    }
    // One more for each of them in turn, so that all have as much before them.
    for count in least..<depth {
      for worker in aliveWorkers
      where workers[worker.index].kind == kind && workers[worker.index].ahead.count == count {
        handAhead(from: demand, to: worker.index, into: &actions)
      }
    }
  }

  /// Whether the run goes its ordinary way, in which the next task follows from what is ready alone.
  private var mayHandAhead: Bool {
    phase == .main && stopCause == nil && !isHalted && !isKilled
  }

  private mutating func handAhead(
    from demand: Int, to worker: Int, into actions: inout [EngineStep]
  ) {
    // Field by field: a copy of the record would count references for every task.
    let current = workers[worker].current
    guard workers[worker].phase == .busy, !current.isNone, !workers[worker].isStopping,
      !workers[worker].isDiscarded, Int(plan.demand[current.index]) == demand,
      let rank = ready.head(demand)
    else { return }
    let task = TaskID(ranking.task[Int(rank)])
    guard !plan.flags(task).contains(.failWhenInterrupted),
      workerKind(of: task) == workers[worker].kind,
      !endCouldUnlockBetter(than: rank, endOf: current)
    else { return }
    for place in workers[worker].ahead.indices
    where endCouldUnlockBetter(than: rank, endOf: workers[worker].ahead[place].task) {
      return
    }
    _ = ready.pop(demand)
    heldByWorkers += 1
    aheadCount += 1
    workers[worker].ahead.append(HandedAhead(task: task))
    start(
      task, on: WorkerID(Int32(truncatingIfNeeded: worker)), isAhead: true, into: &actions)
  }

  private func endCouldUnlockBetter(than rank: Int32, endOf task: TaskID) -> Bool {
    let dependents = plan.dependents(task)
    if dependents.count > SchedulerOptions.maxDependentsLookedAt { return true }
    return dependents.contains { edge in
      let dependent = Int(plan.dependentTargets[edge])
      return unmet[dependent] == 1 && ranking.isMuchBetter(ranking.rank[dependent], than: rank)
    }
  }

  /// Asks for tasks back that were handed ahead and would now start earlier elsewhere, or that a
  /// much better one should go before.
  mutating func takeBackAhead(into actions: inout [EngineStep]) {
    let best = ready.first ?? .max
    for worker in aliveWorkers {
      let index = worker.index
      guard let last = workers[index].ahead.indices.last, !workers[index].isDiscarded else {
        continue
      }
      // The last one is the one that would have to wait longest.
      if fleets[Int(workers[index].kind.rawValue)].couldStartAnother,
        pool.fits(Int(plan.demand[workers[index].ahead[last].task.index]))
      {
        revokeAhead(last, of: worker, into: &actions)
      }
      for place in workers[index].ahead.indices {
        let rank = ranking.rank[workers[index].ahead[place].task.index]
        if ranking.isMuchBetter(best, than: rank) {
          revokeAhead(place, of: worker, into: &actions)
        }
      }
    }
  }

  /// Asks for all back that workers of a fleet were handed which turns out to be slow: it is to start
  /// in its order, on whichever worker is free first.
  mutating func takeBackAll(ofFleet fleet: Int, into actions: inout [EngineStep]) {
    for worker in aliveWorkers where Int(workers[worker.index].kind.rawValue) == fleet {
      takeBackAll(of: worker, into: &actions)
    }
  }

  /// Asks for all back that a worker was handed; what one has that is to end comes back without.
  mutating func takeBackAll(of worker: WorkerID, into actions: inout [EngineStep]) {
    if workers[worker.index].isDiscarded { return }
    for place in workers[worker.index].ahead.indices {
      revokeAhead(place, of: worker, into: &actions)
    }
  }

  /// Asks for a task back, once.
  mutating func revokeAhead(
    _ place: Int, of worker: WorkerID, into actions: inout [EngineStep]
  ) {
    guard !workers[worker.index].ahead[place].isRevoking else { return }
    workers[worker.index].ahead[place].isRevoking = true
    let task = workers[worker.index].ahead[place].task
    actions.append(.order(worker, .revoke(task, attempt: attempt[task.index])))
  }

  /// For how long nobody needs a decision, in nanoseconds; 0 when one may be needed at once.
  ///
  /// While tasks are so short that every worker has several before it and nothing else fits beside
  /// them, what ends frees no place and starts nothing that a worker has not already. The coordinator
  /// may then sleep, and take all that ended meanwhile in one turn: to wake it for each costs as much
  /// as all else it does. It wakes long before the first worker has nothing left to do.
  package var restNanoseconds: Int64 {
    guard aheadCount > 0, mayHandAhead, !isSuspended, !pool.mayFitMore else { return 0 }
    var rest = SchedulerOptions.maxRestMicroseconds
    for worker in aliveWorkers {
      if workers[worker.index].phase == .idle { continue }
      var count: Int64 = -1
      for handed in workers[worker.index].ahead where !handed.isRevoking { count += 1 }
      let mean = fleets[Int(workers[worker.index].kind.rawValue)].meanWallMicroseconds
      rest = min(rest, count * mean / 2)
    }
    return rest < SchedulerOptions.minRestMicroseconds ? 0 : rest * 1000
  }
}
