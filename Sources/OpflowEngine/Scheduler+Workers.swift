internal import OpflowJournal
internal import OpflowPlan
internal import OpflowWire

extension Scheduler {
  func runningTask(of worker: WorkerID) -> TaskID {
    workforce.workers.indices.contains(worker.index)
      ? workforce.workers[worker.index].current : .none
  }

  func node(of worker: WorkerID) -> NodeID {
    workforce.workers.indices.contains(worker.index)
      ? workforce.workers[worker.index].node : .local
  }

  // MARK: - Launching

  /// The best ready task may not be the one that the worker was launched for.
  mutating func welcome(_ worker: WorkerID) {
    guard let freed = workforce.welcome(worker) else { return }
    if !workforce.watch.isListening, options.watchesWorkers {
      workforce.watch.listenAnew(at: now)
    }
    if workforce.workers[worker.index].kind == .check { checks.join(worker) }
    giveBackAssigned(freed)
  }

  /// The task was not journaled.
  mutating func giveBackAssigned(_ freed: Freed) {
    release(freed.share, of: freed.task)
    if !freed.task.isNone { offer(freed.task) }
  }

  // MARK: - Messages

  /// Discards the worker if the attempt cannot be running there. A prefetched task may have begun
  /// before a stop or a recall arrived.
  mutating func holds(_ worker: WorkerID, _ task: TaskID, _ attempt: Int32, _ word: StaticString)
    -> Bool
  {
    guard mayHold(worker, task, attempt) else {
      breach(worker, word, task)
      return false
    }
    hear(worker)
    if workforce.workers[worker.index].current == task {
      noteBegun(task)
      return true
    }
    guard workforce.workers[worker.index].current.isNone,
      workforce.workers[worker.index].ahead.first?.task == task
    else {
      breach(worker, word, task)
      return false
    }
    workforce.followOn(worker, at: now)
    noteBegun(task)
    if phase.stopCause != nil {
      stopCurrent(of: worker)
    } else if node(of: worker) != .local, machines[node(of: worker)].isOver {
      stopCurrent(of: worker, .timeOver)
    }
    return true
  }

  @inline(__always)
  private func mayHold(_ worker: WorkerID, _ task: TaskID, _ attempt: Int32) -> Bool {
    workforce.isAlive(worker) && workforce.workers[worker.index].state == .busy
      && !workforce.workers[worker.index].isDiscarded && plan.tasks.contains(task.index)
      && self.attempt[task.index] == attempt
  }

  @inline(__always)
  private mutating func noteBegun(_ task: TaskID) {
    guard graph.state(task) == .prefetched else { return }
    graph.set(task, .running)
    if phase.isSuspended { graph.set(task, .suspended) }
    steps.append(.began(task, attempt: attempt[task.index]))
  }

  /// The worker makes room; the last of its kind pauses instead.
  mutating func lacks(_ worker: WorkerID, _ task: TaskID, _ attempt: Int32, detail: String) {
    guard mayHold(worker, task, attempt) else {
      return breach(worker, "lacks", task)
    }
    let isSpared = workforce.spare(worker)
    if !isSpared, shortages >= SchedulerOptions.maxShortages {
      guard holds(worker, task, attempt, "lacks") else { return }
      let outcome = Outcome(status: .unknown, reason: .refused)
      return ended(worker, task, outcome, detail: detail)
    }
    revoked(worker, task, attempt)
    if isSpared { return discard(worker, complaint: "") }
    workforce.pausePool(of: worker)
    noteShortage()
  }

  /// Shortages at the same time are counted once.
  private mutating func noteShortage() {
    if shortUntil != nil { return }
    shortUntil = now.advanced(byMilliseconds: SchedulerOptions.shortageMilliseconds(shortages))
    shortages += 1
  }

  mutating func endShortage() {
    guard let until = shortUntil, until <= now else { return }
    shortUntil = nil
    workforce.endPauses()
  }

  /// The task comes back unstarted, which costs no attempt.
  mutating func revoked(_ worker: WorkerID, _ task: TaskID, _ attempt: Int32) {
    guard mayHold(worker, task, attempt) else {
      return breach(worker, "revoked", task)
    }
    hear(worker)
    guard let freed = workforce.revoked(worker, task, at: now) else {
      return breach(worker, "revoked", task)
    }
    if freed.share != nil { release(freed.share, of: task) }
    if workforce.workers[worker.index].kind == .block { blocks.free(worker) }
    if isService(task) {
      leaveUsers(of: task)
      _ = leaveKeptOver(task)
    }
    if graph.has(.cancelling, task) {
      return cancelled(task, Transition(.cancel, task, attempt: attempt, reason: .stopped(.cancel)))
    }
    takeReturn(of: task)
    // Another run of the state folder may have run the task, which also changes the output of
    // commands.
    if plan.hasChecks, plan.isChecked(task) { noteChange() }
    goBack(task, Transition(.interrupt, task, attempt: attempt, reason: .revoked))
  }

  private mutating func goBack(_ task: TaskID, _ transition: Transition) {
    forgetTry(of: task)
    graph.set(task, .waiting)
    tell(transition)
    becomeReadyAgain(task)
  }

  private mutating func cancelled(_ task: TaskID, _ transition: Transition) {
    forgetTry(of: task)
    graph.unmark(task, .cancelling)
    cancelled += 1
    settle(task, as: .cancelled, transition)
  }

  /// A retry is refused if processes were alive.
  mutating func note(_ left: LeftBehind, in transition: inout Transition) {
    transition.left = left
    if left.areAlive { leftAlive[transition.task] = left.names }
  }

  private mutating func takeReturn(of task: TaskID) {
    attempt[task.index] -= 1
    if graph.state(task) == .prefetched, returnCount[task.index] < .max {
      returnCount[task.index] += 1
    }
  }

  private mutating func forgetTry(of task: TaskID) {
    fetches[task] = nil
    leftBehind[task] = nil
    _ = services.takeLoss(of: task)
    if !recorded.isEmpty { recorded[task] = nil }
    if !discarded.isEmpty { discarded[task] = nil }
    if !restored.isEmpty { restored.remove(task) }
    values.forget(task)
  }

  mutating func breach(_ worker: WorkerID, _ word: StaticString, _ task: TaskID) {
    discard(
      worker,
      complaint: "it reported '\(word)' for task number \(task.rawValue), which it does not have")
  }

  // MARK: - Losses

  /// `workerLost` releases its resources.
  mutating func discard(_ worker: WorkerID, complaint: String) {
    if workforce.discard(worker, complaint: complaint) {
      checks.discard(worker)
      steps.append(.discard(worker))
    }
  }

  mutating func lose(_ worker: WorkerID, complaint: String) {
    guard let loss = workforce.lose(worker, complaint: complaint) else { return }
    loseChecks(of: worker, complaint: loss.complaint)
    bear(loss)
    scout(loss.node)
  }

  /// The other workers of the kind continue. Without others, if processes are short, the kind
  /// waits.
  mutating func launchFailed(_ worker: WorkerID, complaint: String, isShortage: Bool) {
    let mayWait = shortUntil != nil || shortages < SchedulerOptions.maxShortages
    guard
      let loss = workforce.launchFailed(
        worker, complaint: complaint, waits: isShortage && mayWait && node(of: worker) == .local)
    else { return }
    if loss.waits { noteShortage() }
    bear(loss)
    scout(loss.node)
  }

  private mutating func bear(_ loss: Loss) {
    if loss.wasLaunching {
      if loss.isLastTry, loss.node != .local {
        giveUp(loss.node, complaint: loss.complaint)
      }
      giveBackAssigned(Freed(task: loss.current, share: loss.share))
      failUnservable()
      return
    }
    release(loss.share, of: loss.current)
    if !loss.current.isNone || !loss.ahead.isEmpty, !loss.isSpared {
      noteLoss(at: loss.node)
    }
    if !loss.current.isNone {
      interrupted(loss.current, at: loss.node, complaint: loss.complaint)
    }
    for task in loss.ahead {
      var transition = Transition(.interrupt, task, reason: loss.isSpared ? .revoked : .workerLost)
      transition.attempt = attempt[task.index]
      if loss.isSpared { takeReturn(of: task) }
      goBack(task, transition)
    }
  }

  /// The task fails by its own rule, after too many losses, or if processes survive.
  mutating func interrupted(
    _ task: TaskID, at node: NodeID,
    _ outcome: Outcome = Outcome(status: .unknown, reason: .workerLost), complaint: String
  ) {
    let wasToEnd = services.stopping.contains(task)
    if isService(task) {
      leaveUsers(of: task)
      _ = leaveKeptOver(task)
    }
    // A client's disconnect says nothing about its external tasks.
    let isLostTooOften = !isExternal(task) && noteLoss(of: task, at: node) && !wasToEnd
    graph.mark(task, .ran)
    var transition = Transition(.interrupt, task, attempt: attempt[task.index])
    transition.outcome = outcome
    transition.detail = complaint
    if let left = leftBehind[task] { note(left, in: &transition) }
    if graph.has(.cancelling, task) {
      transition.event = .cancel
      cancelled(task, transition)
    } else if plan.flags(task).contains(.failWhenInterrupted) || isLostTooOften
      || transition.leavesAlive
    {
      forgetTry(of: task)
      transition.event = .failure
      transition.outcome = Outcome(status: .unknown, reason: .workerLost)
      settle(task, as: .failed, transition)
    } else {
      goBack(task, transition)
    }
  }

  /// A loss costs no attempt. Returns true if there were too many.
  private mutating func noteLoss(of task: TaskID, at node: NodeID) -> Bool {
    if machines.excuse(at: node) != nil { return false }
    lostCount[task.index] += 1
    if node == .local { return lostCount[task.index] > SchedulerOptions.maxLost }
    return machines.noteLoss(of: task, at: node) || lostCount[task.index] >= Machines.mostLosses
  }

  /// Fails the best first, until `max_failures` holds back the rest.
  @discardableResult
  mutating func failUnservable() -> Bool {
    guard workforce.hasComplaints else { return false }
    let complaints = WorkerKind.allCases.map { workforce.complaint(of: $0) }
    if complaints.allSatisfy({ $0 == nil }) { return false }
    var count = failUncheckable() ? 1 : 0
    if !services.taken.isEmpty, let complaint = complaints[Int(WorkerKind.service.rawValue)],
      failUnservableServices(complaint)
    {
      count += 1
    }
    let hopeless = services.taken.all.filter {
      $0.share.node == .local && $0.kind != .service && complaints[Int($0.kind.rawValue)] != nil
    }
    retractTaken(hopeless.map(\.task))
    var countBefore = -1
    while count > countBefore, ready.count > 0 {
      countBefore = count
      for rank in ready.removeAll().sorted() {
        let task = TaskID(ranking.task[Int(rank)])
        if graph.state(task) != .ready { continue }
        guard resources.isLocal(resources.demandClass(of: task)),
          let complaint = complaints[Int(workerKind(of: task).rawValue)], mayStart(task)
        else {
          offer(task)
          continue
        }
        var transition = Transition(.failure, task, reason: .workerLost)
        transition.detail = complaint
        graph.set(task, .waiting)
        settle(task, as: .failed, transition)
        count += 1
      }
    }
    return count > 0
  }
}

/// Deadlines of workers: one that hangs must not hold its task forever.
extension Scheduler {
  @inline(__always)
  mutating func hear(_ worker: WorkerID) {
    if workforce.isAlive(worker) { workforce.watch.hear(worker) }
  }

  /// The worker must stop the task at its timeout.
  mutating func noteStart(of task: TaskID, on worker: WorkerID) {
    let policy = plan.policy(task)
    let limit =
      isService(task)
      ? services.isUp(task) ? 0 : plan.readiness(of: task).timeoutMilliseconds
      : policy.timeoutMilliseconds
    guard limit > 0, options.watchesWorkers,
      !workforce.workers[worker.index].isStopping
    else { return }
    let end = now.advanced(byMilliseconds: Int64(clamping: limit))
      .advanced(byMilliseconds: Int64(policy.stopGraceMilliseconds))
      .advanced(byMilliseconds: SchedulerOptions.stopSlackMilliseconds)
    workforce.watch.setDeadline(of: worker, at: end)
    if phase.isSuspended || workforce.workers[worker.index].standsStill {
      workforce.watch.pause(worker, at: now)
    }
  }

  /// Leaves slack for the workers' own pause.
  mutating func postpone(by nanoseconds: Int64) {
    let least = now.advanced(byMilliseconds: SchedulerOptions.stopSlackMilliseconds)
    for worker in workforce.living {
      workforce.watch.postpone(worker, by: nanoseconds, atLeastTo: least)
    }
    workforce.watch.listenAnew(at: now)
  }

  mutating func timer() {
    if !phase.isSuspended {
      while let timer = timers.first, timer.at <= now {
        _ = timers.pop()
        endDelay(of: timer.task)
      }
    }
    endShortage()
    heedEnds()
    for task in approvals.overdue(at: now) { closeApproval(task, .timeout) }
    for kind in WorkerKind.allCases where workforce.noteTime(of: kind, now) {
      takeBackAll(of: kind)
    }
    checkWorkers()
  }

  private mutating func checkWorkers() {
    while let worker = workforce.watch.firstDue(at: now) {
      if workforce.workers[worker.index].kind == .block {
        blockIsDue(on: worker)
        continue
      }
      if let complaint = complaint(of: worker) {
        discard(worker, complaint: complaint)
      } else {
        workforce.watch.clearDeadline(of: worker)
        ask(worker)
      }
    }
    if phase.isSuspended { return }
    for worker in workforce.watch.silent(at: now) { ask(worker) }
  }

  /// Nil to ping an overdue worker first.
  private func complaint(of worker: WorkerID) -> String? {
    let record = workforce.workers[worker.index]
    if workforce.watch.isMute(worker, at: now) {
      return "it did not respond for \(SchedulerOptions.pulseMilliseconds / 1000) s"
    }
    if record.state == .launching { return "it did not start in time" }
    if record.isStopping || record.current.isNone {
      return "it did not end a stopped task in time"
    }
    return record.kind.row.overdue
  }

  private mutating func ask(_ worker: WorkerID) {
    guard workforce.watch.ask(worker, at: now) else { return }
    pulseCount = pulseCount == .max ? 1 : pulseCount + 1
    send(.pulse(pulseCount), to: worker)
  }
}
