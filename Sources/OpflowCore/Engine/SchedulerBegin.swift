extension Scheduler {
  /// Settles what needs no run, lets all settled tasks meet the needs of others, and makes ready
  /// what waits for nothing. In topological order, so that each task sees its needs settled.
  mutating func begin(into actions: inout StepQueue) {
    phase.advance(to: .main)
    findBeyondDevices()
    // What is skipped below spreads by itself, so only these are still to be announced.
    let statesBefore = graph.states
    for position in 0..<plan.taskCount {
      let task = TaskID(plan.topologicalOrder[position])
      if services.keptOver.contains(task) {
        continue
      } else if statesBefore[task.index] != .waiting {
        if graph.state(task) == .failed { exemptFailureEdges(of: task) }
        spread(from: task, into: &actions)
      } else if graph.state(task) != .waiting {
        continue
      } else if settlesByItself(task, into: &actions) {
        continue
      } else if graph.unmetNeeds(of: task) == 0, !graph.has(.delayed, task) {
        becomeReady(task)
        if isService(task) { spread(from: task, into: &actions) }
      }
    }
  }

  /// Gives a task its end that has one of its own, whatever becomes of its needs.
  ///
  /// - Returns: whether it is such a one.
  mutating func settlesByItself(_ task: TaskID, into actions: inout StepQueue) -> Bool {
    if graph.has(.cancelling, task) {
      cancelled += 1
      var transition = Transition(.cancel, task, reason: .stopped(.cancel))
      transition.attempt = attempt[task.index]
      settle(task, as: .cancelled, transition, into: &actions)
    } else if graph.has(.failsAtBegin, task) {
      var transition = Transition(.failure, task, reason: .interrupted)
      transition.attempt = attempt[task.index]
      settle(task, as: .failed, transition, into: &actions)
    } else if graph.has(.skipsAtBegin, task) {
      settle(task, as: .skipped, Transition(.skip(.skipOption), task), into: &actions)
    } else if plan.flags(task).contains(.conditionFalse) {
      settle(task, as: .skipped, Transition(.skip(falseCondition(of: task)), task), into: &actions)
    } else {
      return false
    }
    return true
  }

  /// Why a task was skipped whose `if` is false.
  func falseCondition(of task: TaskID) -> SkipReason {
    plan.flags(task).contains(.emptyMatrix) ? .emptyMatrix : .condition
  }

  /// Tells that a task was taken out of its end, as it was skipped or not needed.
  func tellTakenBack(_ task: TaskID, into actions: inout StepQueue) {
    var transition = Transition(.resume(.skippedBefore), task)
    transition.isLate = true
    actions.append(.tell(.transition(transition)))
  }

  /// Journals a task's end and lets it spread.
  mutating func settle(
    _ task: TaskID, as next: TaskState, _ transition: consuming Transition,
    into actions: inout StepQueue
  ) {
    takeBack(task, .inputs, into: &actions)
    if plan.hasChecks, next.isSuccess || next == .failed, transition.event != .fresh {
      noteSuccess(of: task, in: &transition)
    }
    graph.set(task, next)
    actions.append(.tell(.transition(consume transition)))
    if next == .failed { countFailure(of: task, into: &actions) }
    spread(from: task, into: &actions)
  }

  @inline(__always)
  mutating func spread(from task: TaskID, into actions: inout StepQueue) {
    if isService(task), graph.state(task).isTerminal { withdrawUsers(of: task, into: &actions) }
    graph.spread(
      from: task, isStopping: phase.stopCause != nil,
      isFinally: isService(task) && phase.step == .finally)
    followChanges(into: &actions)
  }

  /// Acts on what followed from ends for other tasks.
  mutating func followChanges(into actions: inout StepQueue) {
    if graph.changes.isEmpty { return }
    for place in graph.changes.indices {
      switch graph.changes[place] {
      case .ready(let task):
        // One end may give it the last that it waited for, and then skip it: by a service that it needs.
        guard graph.state(task) == .ready else { break }
        // With the main part over, nothing of it gets an end by what an order ends late.
        let isOver = phase.step == .finally && !plan.flags(task).contains(.finally)
        if plan.flags(task).contains(.lateCondition), !isOver {
          awaitDecision(of: task)
        } else {
          offer(task)
        }
      case .skipped(let task, let need):
        takeBack(task, .afterRerun(need), into: &actions)
        actions.append(
          .tell(.transition(Transition(.skip(.upstream(need)), task))))
      case .kept(let task): noteKept(task, into: &actions)
      case .taken(let task, let need): takeBack(task, .afterRerun(need), into: &actions)
      }
    }
    graph.removeChanges()
    decide(into: &actions)
  }

  mutating func becomeReady(_ task: TaskID) {
    graph.becomeReady(task)
    offer(task)
  }

  /// A task that had begun is to begin again. A service of an earlier drive may have to wait for what it needs.
  mutating func becomeReadyAgain(_ task: TaskID, into actions: inout StepQueue) {
    // What it had of a need that an order has tried again meanwhile, it has no more; a service that waits itself has to
    // be there again.
    let mayLack = phase.step == .main && (graph.wasReopened || graph.lacksOffer(task))
    if graph.unmetNeeds(of: task) == 0, !mayLack { return becomeReady(task) }
    if isService(task) { withdrawAgain(usersOf: task, into: &actions) }
    graph.waitAnew(task)
    followChanges(into: &actions)
  }

  /// The time of a task's next try has come.
  mutating func endDelay(of task: TaskID, into actions: inout StepQueue) {
    graph.unmark(task, .delayed)
    becomeReadyAgain(task, into: &actions)
  }

  /// Puts a ready task where it can be started from, or holds it back while it may not start.
  @inline(__always)
  mutating func offer(_ task: TaskID) {
    if mayBeQueued(task) { enqueue(task) } else { graph.mark(task, .held) }
  }

  /// Whether a ready task may stand in a queue: neither the run nor an order holds it back.
  @inline(__always)
  func mayBeQueued(_ task: TaskID) -> Bool {
    mayStart(task) && !graph.has(.fenced, task) && !graph.has(.onHold, task)
      && !(plan.hasServices && awaitsEndOfKept(task))
  }

  /// Puts a task that was held back where it can be started from, if it may be.
  mutating func letGo(_ task: TaskID) {
    guard graph.has(.held, task), mayBeQueued(task) else { return }
    graph.unmark(task, .held)
    enqueue(task)
  }

  mutating func enqueue(_ task: TaskID) {
    if isGate(task) { return gates.enqueue(task) }
    if wantsCheck(task) { return checks.enqueue(task) }
    if isBlock(task), !blocks.isOffered(task) { return blocks.wait(task) }
    // It starts with what needs it, or when the others are through.
    if isService(task), !stands(task) || services.deferred.contains(task) { return }
    ready.push(ranking.rank[task.index], lane: resources.lane(of: task))
  }

  /// Something is about to start: `finally` tasks are to follow, and the journal has to say so before,
  /// or who resumes the run would not know that they are owed.
  @inline(__always)
  mutating func noteStarting(of task: TaskID, into actions: inout StepQueue) {
    startedAny = true
    if !graph.finallyThatMayKeep.isEmpty {
      for due in graph.takeFinallyDue(after: task) {
        takeBack(due, .afterRerun(task), into: &actions)
      }
    }
  }
}
