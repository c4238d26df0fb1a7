internal import OpflowPlan
internal import OpflowWire

extension Scheduler {
  /// Saves busy workers with short tasks the wait for the coordinator. A prefetched task takes over
  /// the resources of one of its class, unless that one's end may make a much better task ready.
  mutating func prefetch(from demandClass: Int) {
    guard phase.isOrdinary, !resources.serviceClasses.contains(demandClass),
      let rank = ready.head(demandClass)
    else { return }
    let kind = workerKind(of: TaskID(ranking.task[Int(rank)]))
    let depth = workforce.throughputs[kind].prefetchedNow(
      ready: ready.count, alive: workforce.count(of: kind))
    // One per worker in turn, so that backlogs stay equal.
    var misses = 0
    for count in 0..<depth {
      var place = 0
      while let worker = workforce.backlogs.worker(
        demandClass: demandClass, depth: count, place: place)
      {
        guard let rank = ready.head(demandClass) else { return }
        let task = TaskID(ranking.task[Int(rank)])
        // The task keeps coming back: a free worker starts it.
        if returnCount[task.index] >= SchedulerOptions.mostReturns { return }
        if mayFollow(task, rank, on: worker) {
          _ = ready.pop(demandClass)
          // The worker moves to the next depth, and another one takes its place.
          prefetch(task, rank, to: worker)
        } else {
          place += 1
          misses += 1
          if misses == SchedulerOptions.maxWorkersLookedAt { return }
        }
      }
    }
  }

  private mutating func mayFollow(_ task: TaskID, _ rank: Int32, on worker: WorkerID) -> Bool {
    if plan.flags(task).contains(.failWhenInterrupted) { return false }
    if workerKind(of: task) != workforce.workers[worker.index].kind { return false }
    // Lent tokens end with the task; a prefetched one would keep them.
    if plan.hasJobservers, plan.jobserver(of: task) != nil || hasJobserver(worker) { return false }
    if resources.hasShrunk, let share = workforce.workers[worker.index].share,
      resources.isOverdrawn(share)
    {
      return false
    }
    if options.usesNodes {
      let node = workforce.workers[worker.index].node
      // The node takes no new tasks, though one without resources would fit.
      if node != .local, !machines.isInUse(node) { return false }
      if machines.mayRestrict, !mayRun(task, at: node) { return false }
    }
    if endCouldUnlockBetter(than: rank, endOf: workforce.workers[worker.index].current) {
      return false
    }
    for place in workforce.workers[worker.index].ahead.indices
    where endCouldUnlockBetter(than: rank, endOf: workforce.workers[worker.index].ahead[place].task)
    {
      return false
    }
    return true
  }

  private mutating func prefetch(_ task: TaskID, _ rank: Int32, to worker: WorkerID) {
    workforce.prefetch(task, to: worker)
    start(task, on: worker, isPrefetched: true)
    leastUrgentPrefetched.push(
      RankedPrefetch(rank: rank, worker: worker, task: task, attempt: attempt[task.index]))
    // Most entries are outdated by now.
    if leastUrgentPrefetched.count > 4 * workforce.prefetchedCount + 64 { rankPrefetchedAgain() }
  }

  mutating func rankPrefetchedAgain() {
    leastUrgentPrefetched.removeAll()
    for worker in workforce.living {
      for prefetched in workforce.workers[worker.index].ahead where !prefetched.isRevoking {
        leastUrgentPrefetched.push(
          RankedPrefetch(
            rank: ranking.rank[prefetched.task.index], worker: worker, task: prefetched.task,
            attempt: attempt[prefetched.task.index]))
      }
    }
  }

  private func endCouldUnlockBetter(than rank: Int32, endOf task: TaskID) -> Bool {
    let dependents = plan.dependents(task)
    if dependents.isLonger(than: SchedulerOptions.maxDependentsLookedAt) { return true }
    return dependents.contains { edge in
      let dependent = plan.dependent(edge)
      return graph.unmetNeeds(of: dependent) == 1
        && ranking.isMuchBetter(ranking.rank[dependent.index], than: rank)
    }
  }

  // MARK: - Recalling

  /// Recalls tasks that could start earlier elsewhere, or later than a much better task.
  mutating func takeBackPrefetched() {
    takeBackForIdle()
    let best = ready.first ?? .max
    while let last = leastUrgentPrefetched.first, ranking.isMuchBetter(best, than: last.rank) {
      _ = leastUrgentPrefetched.pop()
      let record = workforce.workers[last.worker.index]
      guard !record.isDiscarded, attempt[last.task.index] == last.attempt,
        let place = record.ahead.firstIndex(where: { $0.task == last.task })
      else { continue }
      revokePrefetched(place, of: last.worker)
    }
  }

  /// Recalls from the longest backlogs.
  private mutating func takeBackForIdle() {
    for demandClass in workforce.backlogs.classesPrefetched.prefix(
      SchedulerOptions.maxClassesLookedAt)
    {
      var depth = workforce.backlogs.deepest(demandClass: demandClass) ?? 0
      guard depth > 0, let (node, count) = roomForOthers(in: demandClass, depth) else { continue }
      var room = count
      while depth > 0, room > 0 {
        for worker in workforce.backlogs.workers(demandClass: demandClass, depth: depth) {
          // The task would be prefetched and recalled again.
          if machines.mayRestrict,
            !mayRun(workforce.workers[worker.index].ahead[depth - 1].task, at: node)
          {
            continue
          }
          if revokePrefetched(depth - 1, of: worker) { room -= 1 }
          if room == 0 { break }
        }
        depth -= 1
      }
    }
  }

  /// A node where tasks can start at once, and their number.
  private func roomForOthers(in demandClass: Int, _ depth: Int) -> (NodeID, Int)? {
    guard let worker = workforce.backlogs.workers(demandClass: demandClass, depth: depth).first
    else { return nil }
    let kind = workforce.workers[worker.index].kind
    for node in resources.candidates(for: demandClass).prefix(SchedulerOptions.maxNodesLookedAt) {
      let count = workforce.startable(kind, at: node)
      if count > 0, resources.fits(demandClass, at: node) { return (node, count) }
    }
    return nil
  }

  /// A slow kind: its tasks start in order on the first free worker.
  mutating func takeBackAll(of kind: WorkerKind) {
    for worker in workforce.living where workforce.workers[worker.index].kind == kind {
      takeBackAll(of: worker)
    }
  }

  /// A discarded worker returns its tasks anyway.
  mutating func takeBackAll(of worker: WorkerID) {
    if workforce.workers[worker.index].isDiscarded { return }
    for place in workforce.workers[worker.index].ahead.indices {
      revokePrefetched(place, of: worker)
    }
  }

  /// Only the first call has an effect.
  @discardableResult
  mutating func revokePrefetched(_ place: Int, of worker: WorkerID) -> Bool {
    guard workforce.noteRevoking(place, of: worker) else { return false }
    let task = workforce.workers[worker.index].ahead[place].task
    send(.revoke(task, attempt: attempt[task.index]), to: worker)
    return true
  }

  // MARK: - Resting

  /// The nanoseconds in which no decision is needed. While every worker has several short tasks and
  /// nothing else fits, ends start nothing: the coordinator may sleep and handle many in one turn,
  /// since a wakeup for each costs as much as everything else.
  var restNanoseconds: Int64 {
    guard workforce.prefetchedCount > 0, workforce.revokingCount == 0, phase.isOrdinary,
      !phase.isSuspended, !phase.isPaused, requests.isEmpty, !resources.mayFitMore
    else { return 0 }
    var rest = SchedulerOptions.maxRestMicroseconds
    for kind in WorkerKind.allCases where kind != .service {
      guard workforce.areAllAtWork(kind) else { return 0 }
      guard let least = workforce.backlogs.least(of: kind) else { continue }
      let mean = workforce.throughputs[kind].meanWallMicroseconds
      rest = min(rest, Int64(least - 1) * mean / 2)
    }
    return rest < SchedulerOptions.minRestMicroseconds ? 0 : rest * 1000
  }
}

/// The rank is from the time of prefetching.
struct RankedPrefetch: HeapElement {
  var rank: Int32
  var worker: WorkerID
  var task: TaskID
  var attempt: Int32

  func isBefore(_ other: RankedPrefetch) -> Bool { rank > other.rank }
}
