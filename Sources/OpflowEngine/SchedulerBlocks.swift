internal import OpflowPlan
internal import OpflowWire

extension Scheduler {
  @inline(__always)
  func isBlock(_ task: TaskID) -> Bool { plan.hasBlocks && plan.kind(task) == .block }

  mutating func take(
    _ fact: BlockFact, of program: HostID, at now: Instant, into actions: inout StepQueue
  ) {
    switch fact {
    case .joined: blocks.join(program)
    case .offers(let task):
      guard plan.tasks.contains(task.index), isBlock(task) else { return }
      if blocks.offer(task, by: program) { admit(task) }
    case .withdraws(let task): if blocks.withdraw(task, by: program) { keepWaiting(task) }
    case .ended(let task, let attempt, let outcome, let what):
      blockEnded(task, attempt, outcome, what, in: program, at: now, into: &actions)
    case .gaveBack(let task, let attempt):
      if blocks.withdraw(task, by: program) { keepWaiting(task) }
      guard let seat = seat(of: task, attempt, in: program) else {
        if blocks.endLingering(task, attempt: attempt, in: program) { admit(task) }
        return
      }
      revoked(seat, task, attempt, at: now, into: &actions)
    case .gone(let complaint):
      let parting = blocks.remove(program)
      for task in parting.unoffered { keepWaiting(task) }
      for seat in parting.seats { lose(seat, complaint: complaint, at: now, into: &actions) }
      for task in parting.offered { admit(task) }
    }
  }

  private mutating func admit(_ task: TaskID) {
    if blocks.stopWaiting(task) { offer(task) }
  }

  private mutating func keepWaiting(_ task: TaskID) {
    // A held task is offered again when it is released.
    guard graph.state(task) == .ready, !graph.has(.held, task) else { return }
    ready.take(ranking.rank[task.index], lane: resources.lane(of: task))
    blocks.wait(task)
  }

  // MARK: - Starting

  mutating func seat(
    for task: TaskID, at now: Instant, into actions: inout StepQueue
  ) -> WorkerID {
    guard let place = blocks.place(for: task) else {
      preconditionFailure("a block was to start that nobody offers")
    }
    let seat: WorkerID
    if let free = place.seat {
      workforce.engage(free)
      seat = free
    } else {
      seat = workforce.enlist(.block, at: now)
      actions.append(.seat(seat, place.program))
    }
    blocks.sit(task, on: seat, in: place.program, at: now)
    let limit = plan.policy(task).timeoutMilliseconds
    if limit > 0, options.watchesWorkers {
      workforce.watch.setDeadline(
        of: seat, at: now.advanced(byMilliseconds: Int64(clamping: limit)))
    }
    return seat
  }

  /// Drops an unsent start if its task has ended or was interrupted since.
  mutating func dropUnsent(
    _ worker: WorkerID, _ task: TaskID, _ attempt: Int32, at now: Instant,
    into actions: inout StepQueue
  ) -> Bool {
    let record = workforce.workers[worker.index]
    guard record.kind == .block, record.current != task || self.attempt[task.index] != attempt
    else { return false }
    guard let program = blocks.program(of: worker) else { return true }
    let never = Outcome(status: .unknown)
    handle(
      .block(program, .ended(task, attempt: attempt, never, what: "")), at: now, into: &actions)
    return true
  }

  // MARK: - Ending

  private func seat(of task: TaskID, _ attempt: Int32, in program: HostID) -> WorkerID? {
    guard plan.tasks.contains(task.index), self.attempt[task.index] == attempt else { return nil }
    return blocks.holder(of: task, in: program)
  }

  private mutating func blockEnded(
    _ task: TaskID, _ attempt: Int32, _ told: Outcome, _ what: String, in program: HostID,
    at now: Instant, into actions: inout StepQueue
  ) {
    guard let seat = seat(of: task, attempt, in: program) else {
      if blocks.endLingering(task, attempt: attempt, in: program) { admit(task) }
      return
    }
    var outcome = told
    outcome.errorNumber = 0
    // The engine knows why it stopped the attempt. A success counts nevertheless, except after a
    // timeout.
    let stop = blocks.stopReason(seat)
    outcome.reason = stop == .timeout || outcome.status != .success ? stop : nil
    if outcome.usage.wallMicroseconds == 0 {
      outcome.usage.wallMicroseconds = wallMicroseconds(of: seat, at: now)
    }
    ended(seat, task, outcome, what: what, at: now, into: &actions)
  }

  private func wallMicroseconds(of seat: WorkerID, at now: Instant) -> Int64 {
    max(0, now.nanoseconds - blocks.since(seat).nanoseconds) / 1000
  }

  /// The timeout or the stop grace is over.
  mutating func blockIsDue(
    on seat: WorkerID, at now: Instant, into actions: inout StepQueue
  ) {
    let task = workforce.workers[seat.index].current
    guard workforce.workers[seat.index].isStopping else {
      blocks.note(stop: .timeout, of: seat)
      return stopCurrent(of: seat, .timeOver, at: now, into: &actions)
    }
    var outcome = Outcome(status: .unknown, reason: blocks.stopReason(seat))
    outcome.usage.wallMicroseconds = wallMicroseconds(of: seat, at: now)
    blocks.linger(seat, attempt: attempt[task.index])
    ended(
      seat, task, outcome, what: "its program did not end it in time", at: now, into: &actions)
  }
}
