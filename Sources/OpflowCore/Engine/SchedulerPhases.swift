extension Scheduler {
  /// How the run stands, for `finally` tasks and the journal's `close`.
  var runState: RunState {
    switch stopCause {
    case .signal, .ioError: .interrupted
    case .request: .cancelled
    case nil:
      failures + earlierFailures > 0 ? .failed : leftOpen > 0 ? .interrupted : .succeeded
    }
  }

  private var closing: CloseEntry {
    switch stopCause {
    case .signal(let signal):
      CloseEntry(state: runState, exitCode: 128 + signal, signal: signal)
    case .request: CloseEntry(state: runState, exitCode: 6)
    case .ioError: CloseEntry(state: runState, exitCode: 74)
    case nil: CloseEntry(state: runState, exitCode: failures + earlierFailures > 0 ? 1 : 0)
    }
  }

  /// `max_failures` is reached: only exempt tasks start from here on. `finally` tasks are, and
  /// what they need.
  mutating func halt(into actions: inout [EngineStep]) {
    isHalted = true
    for index in plan.tasks where plan.flags(TaskID(index)).contains(.finally) {
      exempt(TaskID(index))
    }
    withdraw(into: &actions)
  }

  /// Takes back all that was about to start and may not any more.
  private mutating func withdraw(into actions: inout [EngineStep]) {
    for rank in ready.removeAll() {
      let task = TaskID(ranking.task[Int(rank)])
      if mayStart(task) { enqueue(task) } else { marks[task.index].insert(.held) }
    }
    let delayed = timers.entries
    timers.removeAll()
    for entry in delayed {
      if mayStart(entry.task) { timers.push(entry) } else { withheld[entry.task] = entry.at }
    }
    for worker in aliveWorkers {
      let record = workers[worker.index]
      if record.phase == .launching, !record.current.isNone, !mayStart(record.current) {
        workers[worker.index].current = .none
        giveBackAssigned(record.current)
      }
      takeBackAll(of: worker, into: &actions)
    }
  }

  /// Starts nothing new and ends what runs by its stop rule. While `finally` tasks run they go on:
  /// they are what the stop is to lead to; only a `kill` ends them.
  mutating func stop(_ cause: StopCause, at now: Instant, into actions: inout [EngineStep]) {
    // An I/O error outranks a request to stop: the run cannot keep its promises any more.
    if cause == .ioError {
      if stopCause == .ioError { return }
      stopCause = .ioError
    } else {
      guard stopCause == nil else { return }
      stopCause = cause
    }
    if phase == .finally, cause != .ioError { return }
    withdraw(into: &actions)
    stopRunning(at: now, into: &actions)
  }

  mutating func kill(at now: Instant, into actions: inout [EngineStep]) {
    isKilled = true
    if stopCause == nil { stopCause = .request }
    withdraw(into: &actions)
    stopRunning(at: now, into: &actions)
  }

  private mutating func stopRunning(at now: Instant, into actions: inout [EngineStep]) {
    for worker in aliveWorkers {
      let record = workers[worker.index]
      guard record.phase == .busy, !record.isDiscarded, !record.current.isNone else { continue }
      if record.isStopping, !isKilled { continue }
      stopCurrent(of: worker, at: now, into: &actions)
    }
  }

  /// Orders the end of what a worker runs: at once after a `kill`, else by the task's stop rule.
  mutating func stopCurrent(
    of worker: WorkerID, at now: Instant, into actions: inout [EngineStep]
  ) {
    let task = workers[worker.index].current
    let reason: StopReason = isKilled ? .kill : stopCause == .request ? .cancel : .signal
    let grace = isKilled ? 0 : Int64(plan.policy(task).stopGraceMilliseconds)
    workers[worker.index].isStopping = true
    workers[worker.index].deadline.set(
      now.advanced(byMilliseconds: grace + SchedulerOptions.stopSlackMilliseconds))
    actions.append(.order(worker, .stop(task, attempt: attempt[task.index], reason: reason)))
  }

  mutating func suspend(at now: Instant, into actions: inout [EngineStep]) {
    guard !isSuspended else { return }
    isSuspended = true
    actions.append(.tell(.transition(Transition(.pause, .none))))
    for worker in aliveWorkers {
      // The time that the coordinator itself stands still counts against no worker.
      workers[worker.index].deadline.pause(at: now)
      let record = workers[worker.index]
      let task = record.current
      guard record.phase == .busy, !record.isDiscarded, !task.isNone else { continue }
      // One that is still `handed` most likely runs; that the worker began with it may be on its way.
      if state(task) == .running { set(task, .suspended) }
      actions.append(.order(worker, .suspend(task, attempt: attempt[task.index])))
    }
  }

  mutating func proceed(at now: Instant, into actions: inout [EngineStep]) {
    guard isSuspended else { return }
    isSuspended = false
    actions.append(.tell(.transition(Transition(.proceed, .none))))
    listenAnew(at: now)
    for worker in aliveWorkers {
      if workers[worker.index].isDiscarded { continue }
      workers[worker.index].deadline.proceed(at: now)
      let task = workers[worker.index].current
      guard workers[worker.index].phase == .busy, !task.isNone else { continue }
      if state(task) == .suspended { set(task, .running) }
      actions.append(.order(worker, .proceed(task, attempt: attempt[task.index])))
    }
  }

  /// Makes ready what waited long enough, and gives up workers that kept us waiting too long.
  mutating func timer(at now: Instant, into actions: inout [EngineStep]) {
    if !isSuspended {
      while let task = timers.popDue(at: now) { becomeReady(task) }
    }
    for index in fleets.indices where fleets[index].noteTime(now) {
      takeBackAll(ofFleet: index, into: &actions)
    }
    checkWorkers(at: now, into: &actions)
  }

  /// Goes on to the `finally` tasks when nothing else runs or can start, and to the end after them.
  mutating func advancePhase(at now: Instant, into actions: inout [EngineStep]) {
    while failUnservable(into: &actions) { dispatch(at: now, into: &actions) }
    guard heldByWorkers == 0, ready.count == 0, timers.first == nil, !isSuspended else { return }
    if phase == .main, startedAny, !isKilled, stopCause != .ioError {
      phase = .finally
      openFinally(into: &actions)
      dispatch(at: now, into: &actions)
      while failUnservable(into: &actions) { dispatch(at: now, into: &actions) }
      if heldByWorkers > 0 || ready.count > 0 { return }
    }
    phase = .done
    actions.append(.finish(closing))
  }

  /// Lets `finally` tasks go. A need of theirs that never ran meets `finished`, since the others
  /// are at their end, and nothing else.
  private mutating func openFinally(into actions: inout [EngineStep]) {
    for position in 0..<plan.taskCount {
      let task = TaskID(plan.topologicalOrder[position])
      guard plan.flags(task).contains(.finally), state(task) == .waiting else { continue }
      var missed = TaskID.none
      for edge in plan.needs(task) {
        let need = TaskID(plan.needTargets[edge])
        if state(need).isTerminal || plan.flags(need).contains(.finally) { continue }
        if plan.needCondition(edge) == .finished {
          unmet[task.index] -= 1
        } else {
          missed = need
        }
      }
      if missed.isNone {
        unmet[task.index] -= 1
        if unmet[task.index] > 0 { continue }
        missed = noNeedRan(task) ?? .none
      }
      if missed.isNone {
        becomeReady(task)
      } else {
        marks[task.index].insert(.skippedUpstream)
        settle(
          task, as: .skipped, Transition(.skip(.upstream(missed)), task),
          into: &actions)
      }
    }
  }
}
