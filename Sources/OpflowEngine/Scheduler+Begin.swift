internal import OpflowJournal
internal import OpflowPlan

extension Scheduler {
  /// Settles tasks that need no run, applies earlier ends, and readies tasks.
  mutating func begin() {
    phase.advance(to: .main)
    findBeyondDevices()
    // Tasks skipped below propagate by themselves.
    let statesBefore = graph.states
    for position in 0..<plan.taskCount {
      let task = TaskID(plan.topologicalOrder[position])
      if services.keptOver.contains(task) {
        continue
      } else if statesBefore[task.index] != .waiting {
        if graph.state(task) == .failed { exemptFailureEdges(of: task) }
        spread(from: task)
      } else if graph.state(task) != .waiting {
        continue
      } else if settlesByItself(task) {
        continue
      } else if graph.unmetNeeds(of: task) == 0, !graph.has(.delayed, task) {
        becomeReady(task)
        if isService(task) { spread(from: task) }
      }
    }
  }

  /// Ends a task whatever its dependencies do.
  mutating func settlesByItself(_ task: TaskID) -> Bool {
    if graph.has(.cancelling, task) {
      cancelled += 1
      var transition = Transition(.cancel, task, reason: .stopped(.cancel))
      transition.attempt = attempt[task.index]
      settle(task, as: .cancelled, transition)
    } else if graph.has(.failsAtBegin, task) {
      var transition = Transition(.failure, task, reason: .interrupted)
      transition.attempt = attempt[task.index]
      settle(task, as: .failed, transition)
    } else if graph.has(.skipsAtBegin, task) {
      settle(task, as: .skipped, Transition(.skip(.skipOption), task))
    } else if plan.flags(task).contains(.conditionFalse) {
      settle(task, as: .skipped, Transition(.skip(falseCondition(of: task)), task))
    } else {
      return false
    }
    return true
  }

  func falseCondition(of task: TaskID) -> SkipReason {
    plan.flags(task).contains(.emptyMatrix) ? .emptyMatrix : .condition
  }

  mutating func tellTakenBack(_ task: TaskID) {
    var transition = Transition(.resume(.skippedBefore), task)
    transition.isLate = true
    tell(transition)
  }

  mutating func settle(_ task: TaskID, as next: TaskState, _ transition: consuming Transition) {
    takeBack(task, .inputs)
    if plan.hasChecks, next.isSuccess || next == .failed, transition.event != .fresh {
      noteSuccess(of: task, in: &transition)
    }
    graph.set(task, next)
    tell(consume transition)
    if next == .failed { countFailure(of: task) }
    spread(from: task)
  }

  @inline(__always)
  mutating func spread(from task: TaskID) {
    if isService(task), graph.state(task).isTerminal {
      noteServiceOver(task)
      retractUsers(of: task)
    }
    graph.spread(
      from: task, isStopping: phase.stopCause != nil,
      isFinally: isService(task) && phase.step == .finally)
    followChanges()
  }

  mutating func followChanges() {
    if graph.changes.isEmpty { return }
    for place in graph.changes.indices {
      switch graph.changes[place] {
      case .ready(let task):
        // One end may meet a task's last dependency and then skip it, through a service.
        guard graph.state(task) == .ready else { break }
        // After the main phase, a late end by a request does not end its dependents.
        let isOver = phase.step == .finally && !plan.flags(task).contains(.finally)
        if plan.flags(task).contains(.lateCondition), !isOver {
          awaitDecision(of: task)
        } else {
          offer(task)
        }
      case .skipped(let task, let need):
        if isService(task) { noteServiceOver(task) }
        takeBack(task, .afterRerun(need))
        tell(Transition(.skip(.upstream(need)), task))
      case .kept(let task): noteKept(task)
      case .taken(let task, let need): takeBack(task, .afterRerun(need))
      }
    }
    graph.removeChanges()
    decide()
  }

  mutating func becomeReady(_ task: TaskID) {
    graph.becomeReady(task)
    offer(task)
  }

  /// The task waits if it lacks a dependency.
  mutating func becomeReadyAgain(_ task: TaskID) {
    // A request may have retried a dependency, or its service must come up again.
    let mayLack = phase.step == .main && (graph.wasReopened || graph.lacksOffer(task))
    if graph.unmetNeeds(of: task) == 0, !mayLack { return becomeReady(task) }
    if isService(task) { retractAgain(usersOf: task) }
    graph.waitAnew(task)
    followChanges()
  }

  mutating func endDelay(of task: TaskID) {
    graph.unmark(task, .delayed)
    becomeReadyAgain(task)
  }

  @inline(__always)
  mutating func offer(_ task: TaskID) {
    if mayBeQueued(task) { enqueue(task) } else { graph.mark(task, .held) }
  }

  @inline(__always)
  func mayBeQueued(_ task: TaskID) -> Bool {
    mayStart(task) && !graph.has(.fenced, task) && !graph.has(.onHold, task)
      && !(plan.hasServices && awaitsEndOfKept(task))
  }

  mutating func letGo(_ task: TaskID) {
    guard graph.has(.held, task), mayBeQueued(task) else { return }
    graph.unmark(task, .held)
    enqueue(task)
  }

  mutating func enqueue(_ task: TaskID) {
    if isApproval(task) { return approvals.enqueue(task) }
    if wantsCheck(task) { return checks.enqueue(task) }
    if isExternal(task), !blocks.isOffered(task) { return blocks.wait(task) }
    // An idle service starts with its users, or after the other services.
    if isService(task), !stands(task) || services.deferred.contains(task) { return }
    ready.push(ranking.rank[task.index], demandClass: resources.demandClass(of: task))
  }

  /// Journals, before the first start, that `finally` tasks are due, for a resume.
  @inline(__always)
  mutating func noteStarting(of task: TaskID) {
    startedAny = true
    if !graph.finallyThatMayKeep.isEmpty {
      for due in graph.takeFinallyDue(after: task) { takeBack(due, .afterRerun(task)) }
    }
  }
}

/// Requests to a lost session that are still valid; the first journal line repeats them.
extension Scheduler {
  mutating func apply(_ standing: StandingRequests) {
    for (resource, amount) in standing.capacities.sorted(by: { $0.key < $1.key }) {
      let most = resource == plan.gpuResource ? options.capacities(of: plan)[resource] : .max
      setCapacity(min(amount, most), of: resource)
    }
    for task in standing.cancelled where graph.state(task) == .waiting {
      graph.mark(task, .cancelling)
    }
    guard phase.stopCause == nil else { return }
    if standing.isPaused { pause() }
    suspend(standing.onHold.filter { graph.state($0) == .waiting })
  }

  /// Services start without delay.
  mutating func takeOver(_ tries: [TaskID: TriesUsed]) {
    for (task, used) in tries {
      triesUsed[task.index] = used.count
      guard used.delayMilliseconds > 0, phase.stopCause == nil, graph.state(task) == .waiting,
        !graph.hasOwnFate(task), !isService(task)
      else { continue }
      graph.mark(task, .delayed)
      timers.push(RetryTimer(at: now.advanced(byMilliseconds: used.delayMilliseconds), task: task))
    }
  }

  mutating func stop(as standing: StandingRequests) {
    if standing.isCancelled {
      stop(.request, letsFinallyGo: false)
    } else if let signal = standing.stopSignal {
      stop(.signal(signal), letsFinallyGo: false)
    }
  }
}
