internal import OpflowPlan
internal import OpflowWire

extension Scheduler {
  /// Busy workers with short tasks then need not wait for the coordinator. A prefetched task takes
  /// over the resources of one of its class, unless that one's end may make a much better task
  /// ready.
  mutating func handAhead(from lane: Int) {
    guard phase.isOrdinary, !resources.serviceLanes.contains(lane),
      let rank = ready.head(lane)
    else { return }
    let kind = workerKind(of: TaskID(ranking.task[Int(rank)]))
    let depth = workforce.paces[kind].aheadNow(ready: ready.count, alive: workforce.count(of: kind))
    // One per worker in turn, so that backlogs stay equal.
    var misses = 0
    for count in 0..<depth {
      var place = 0
      while let worker = workforce.backlogs.worker(lane: lane, depth: count, place: place) {
        guard let rank = ready.head(lane) else { return }
        let task = TaskID(ranking.task[Int(rank)])
        // It keeps coming back: a free worker starts it.
        if returnCount[task.index] >= SchedulerOptions.mostReturns { return }
        if mayFollow(task, rank, on: worker) {
          _ = ready.pop(lane)
          // The worker moves to the next depth, and another one takes its place.
          handAhead(task, rank, to: worker)
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
    if options.usesSites {
      let site = workforce.workers[worker.index].site
      // The node takes no new tasks, though one without resources would fit.
      if site != .local, !machines.isInUse(site) { return false }
      if machines.mayRestrict, !mayRun(task, at: site) { return false }
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

  private mutating func handAhead(_ task: TaskID, _ rank: Int32, to worker: WorkerID) {
    workforce.handAhead(task, to: worker)
    start(task, on: worker, isAhead: true)
    leastUrgentAhead.push(
      RankedAhead(rank: rank, worker: worker, task: task, attempt: attempt[task.index]))
    // Most entries are outdated by now.
    if leastUrgentAhead.count > 4 * workforce.aheadCount + 64 { rankAheadAnew() }
  }

  mutating func rankAheadAnew() {
    leastUrgentAhead.removeAll()
    for worker in workforce.living {
      for handed in workforce.workers[worker.index].ahead where !handed.isRevoking {
        leastUrgentAhead.push(
          RankedAhead(
            rank: ranking.rank[handed.task.index], worker: worker, task: handed.task,
            attempt: attempt[handed.task.index]))
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

  /// Recalls prefetched tasks that could start earlier elsewhere, or later than a much better task.
  mutating func takeBackAhead() {
    takeBackForIdle()
    let best = ready.first ?? .max
    while let last = leastUrgentAhead.first, ranking.isMuchBetter(best, than: last.rank) {
      _ = leastUrgentAhead.pop()
      let record = workforce.workers[last.worker.index]
      guard !record.isDiscarded, attempt[last.task.index] == last.attempt,
        let place = record.ahead.firstIndex(where: { $0.task == last.task })
      else { continue }
      revokeAhead(place, of: last.worker)
    }
  }

  /// Recalls the last tasks of the longest backlogs for idle workers.
  private mutating func takeBackForIdle() {
    for lane in workforce.backlogs.lanesAhead.prefix(SchedulerOptions.maxLanesLookedAt) {
      var depth = workforce.backlogs.deepest(lane: lane) ?? 0
      guard depth > 0, let (site, count) = roomForOthers(in: lane, depth) else { continue }
      var room = count
      while depth > 0, room > 0 {
        for worker in workforce.backlogs.workers(lane: lane, depth: depth) {
          // It would be prefetched and recalled again.
          if machines.mayRestrict,
            !mayRun(workforce.workers[worker.index].ahead[depth - 1].task, at: site)
          {
            continue
          }
          if revokeAhead(depth - 1, of: worker) { room -= 1 }
          if room == 0 { break }
        }
        depth -= 1
      }
    }
  }

  /// A node where tasks of the class can start at once, and how many.
  private func roomForOthers(in lane: Int, _ depth: Int) -> (SiteID, Int)? {
    guard let worker = workforce.backlogs.workers(lane: lane, depth: depth).first else {
      return nil
    }
    let kind = workforce.workers[worker.index].kind
    for site in resources.candidates(for: lane).prefix(SchedulerOptions.maxSitesLookedAt) {
      let count = workforce.startable(kind, at: site)
      if count > 0, resources.fits(lane, at: site) { return (site, count) }
    }
    return nil
  }

  /// Recalls all tasks of a kind that turns out slow: they start in order on the first free worker.
  mutating func takeBackAll(of kind: WorkerKind) {
    for worker in workforce.living where workforce.workers[worker.index].kind == kind {
      takeBackAll(of: worker)
    }
  }

  /// A discarded worker returns them anyway.
  mutating func takeBackAll(of worker: WorkerID) {
    if workforce.workers[worker.index].isDiscarded { return }
    for place in workforce.workers[worker.index].ahead.indices {
      revokeAhead(place, of: worker)
    }
  }

  /// Only the first call has an effect.
  @discardableResult
  mutating func revokeAhead(_ place: Int, of worker: WorkerID) -> Bool {
    guard workforce.noteRevoking(place, of: worker) else { return false }
    let task = workforce.workers[worker.index].ahead[place].task
    send(.revoke(task, attempt: attempt[task.index]), to: worker)
    return true
  }

  // MARK: - Resting

  /// The nanoseconds in which no decision is needed.
  ///
  /// While every worker has several short tasks and nothing else fits, ends start nothing: the
  /// coordinator may sleep and handle many in one turn, since a wakeup for each costs as much as
  /// everything else.
  var restNanoseconds: Int64 {
    guard workforce.aheadCount > 0, workforce.revokingCount == 0, phase.isOrdinary,
      !phase.isSuspended, !phase.isPaused, orders.isEmpty, !resources.mayFitMore
    else { return 0 }
    var rest = SchedulerOptions.maxRestMicroseconds
    for kind in WorkerKind.allCases where kind != .service {
      guard workforce.areAllAtWork(kind) else { return 0 }
      guard let least = workforce.backlogs.least(of: kind) else { continue }
      let mean = workforce.paces[kind].meanWallMicroseconds
      rest = min(rest, Int64(least - 1) * mean / 2)
    }
    return rest < SchedulerOptions.minRestMicroseconds ? 0 : rest * 1000
  }
}

/// With its rank when it was prefetched.
struct RankedAhead: HeapElement {
  var rank: Int32
  var worker: WorkerID
  var task: TaskID
  var attempt: Int32

  func isBefore(_ other: RankedAhead) -> Bool { rank > other.rank }
}
