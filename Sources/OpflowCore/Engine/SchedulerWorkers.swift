extension Scheduler {
  func runningTask(of worker: WorkerID) -> TaskID {
    workforce.workers.indices.contains(worker.index)
      ? workforce.workers[worker.index].current : .none
  }

  /// The machine that a worker is on.
  func site(of worker: WorkerID) -> SiteID {
    workforce.workers.indices.contains(worker.index)
      ? workforce.workers[worker.index].site : .local
  }

  // MARK: - Coming

  /// A worker is there. It gets the best of what is ready by now, which need not be the task that it
  /// was launched for.
  mutating func welcome(_ worker: WorkerID, at now: Instant) {
    guard let freed = workforce.welcome(worker) else { return }
    if !workforce.watch.isListening, options.watchesWorkers {
      workforce.watch.listenAnew(at: now)
    }
    if workforce.workers[worker.index].kind == .check { checks.join(worker) }
    giveBackAssigned(freed)
  }

  /// A task that a worker was to get when it said hello; nothing of it was journaled.
  mutating func giveBackAssigned(_ freed: Freed) {
    if let share = freed.share { resources.give(share) }
    if !freed.task.isNone { offer(freed.task) }
  }

  // MARK: - Speaking

  /// Whether the worker may speak of that try as its running one. Where the task before it has
  /// ended, the one handed ahead becomes that: the worker started it before an order to stop or to
  /// give it back arrived. A worker that says what cannot be is no worker.
  mutating func holds(
    _ worker: WorkerID, _ task: TaskID, _ attempt: Int32, _ word: StaticString, at now: Instant,
    into actions: inout StepQueue
  ) -> Bool {
    guard mayHold(worker, task, attempt) else {
      breach(worker, word, task, into: &actions)
      return false
    }
    hear(worker)
    if workforce.workers[worker.index].current == task {
      noteBegun(task, into: &actions)
      return true
    }
    guard workforce.workers[worker.index].current.isNone,
      workforce.workers[worker.index].ahead.first?.task == task
    else {
      breach(worker, word, task, into: &actions)
      return false
    }
    workforce.followOn(worker, at: now)
    noteBegun(task, into: &actions)
    if phase.stopCause != nil {
      stopCurrent(of: worker, at: now, into: &actions)
    } else if site(of: worker) != .local, machines[site(of: worker)].isOver {
      stopCurrent(of: worker, .timeOver, at: now, into: &actions)
    }
    return true
  }

  /// Whether the worker is at work and the try is the task's newest.
  @inline(__always)
  private func mayHold(_ worker: WorkerID, _ task: TaskID, _ attempt: Int32) -> Bool {
    workforce.isAlive(worker) && workforce.workers[worker.index].phase == .busy
      && !workforce.workers[worker.index].isDiscarded && plan.tasks.contains(task.index)
      && self.attempt[task.index] == attempt
  }

  /// The worker speaks of a task that it was handed ahead: it has begun with it.
  @inline(__always)
  private mutating func noteBegun(_ task: TaskID, into actions: inout StepQueue) {
    guard graph.state(task) == .handed else { return }
    graph.set(task, .running)
    if phase.isSuspended { graph.set(task, .suspended) }
    actions.append(.began(task, attempt: attempt[task.index]))
  }

  /// The worker cannot make a process for a task at the moment. Where others of its kind are there, the run goes on
  /// without it, which makes room; for the last one its kind waits a while.
  mutating func lacks(
    _ worker: WorkerID, _ task: TaskID, _ attempt: Int32, what: String, at now: Instant,
    into actions: inout StepQueue
  ) {
    guard mayHold(worker, task, attempt) else {
      return breach(worker, "lacks", task, into: &actions)
    }
    let isSpared = workforce.spare(worker)
    if !isSpared, shortages >= SchedulerOptions.maxShortages {
      guard holds(worker, task, attempt, "lacks", at: now, into: &actions) else { return }
      let outcome = Outcome(status: .unknown, reason: .refused)
      return ended(worker, task, outcome, what: what, at: now, into: &actions)
    }
    revoked(worker, task, attempt, at: now, into: &actions)
    if isSpared { return discard(worker, complaint: "", into: &actions) }
    workforce.pauseCrew(of: worker)
    shortUntil = now.advanced(
      byMilliseconds: SchedulerOptions.shortageMilliseconds(shortages))
    shortages += 1
  }

  /// Where processes were short there may be some by now.
  mutating func endShortage(at now: Instant) {
    guard let until = shortUntil, until <= now else { return }
    shortUntil = nil
    workforce.endPauses()
  }

  /// A task that was handed ahead comes back unstarted; it costs no try.
  mutating func revoked(
    _ worker: WorkerID, _ task: TaskID, _ attempt: Int32, at now: Instant,
    into actions: inout StepQueue
  ) {
    guard mayHold(worker, task, attempt) else {
      return breach(worker, "revoked", task, into: &actions)
    }
    hear(worker)
    guard let freed = workforce.revoked(worker, task, at: now) else {
      return breach(worker, "revoked", task, into: &actions)
    }
    if let share = freed.share { resources.give(share) }
    if workforce.workers[worker.index].kind == .block { blocks.free(worker) }
    if isService(task) {
      leaveUsers(of: task, at: now, into: &actions)
      _ = leaveKeptOver(task)
    }
    // The order came before the worker could not begin with it.
    if graph.has(.cancelling, task) {
      return cancelled(
        task, Transition(.cancel, task, attempt: attempt, reason: .stopped(.cancel)),
        into: &actions)
    }
    self.attempt[task.index] -= 1
    if graph.state(task) == .handed, returnCount[task.index] < .max {
      returnCount[task.index] += 1
    }
    // Another run of the state folder may have run it, which changes what commands print, too.
    if plan.hasChecks, plan.isChecked(task) { noteChange() }
    goBack(
      task, Transition(.interrupt, task, attempt: attempt, reason: .revoked), into: &actions)
  }

  /// A task that was given out returns to where it may be started again.
  private mutating func goBack(
    _ task: TaskID, _ transition: Transition, into actions: inout StepQueue
  ) {
    forgetTry(of: task)
    graph.set(task, .waiting)
    actions.append(.tell(.transition(transition)))
    becomeReadyAgain(task, into: &actions)
  }

  /// An order cancelled it, and its try is over without an end of its own.
  private mutating func cancelled(
    _ task: TaskID, _ transition: Transition, into actions: inout StepQueue
  ) {
    forgetTry(of: task)
    graph.unmark(task, .cancelling)
    cancelled += 1
    settle(task, as: .cancelled, transition, into: &actions)
  }

  /// What a worker told of a try that has no end counts for none that follows.
  private mutating func forgetTry(of task: TaskID) {
    fetches[task] = nil
    leftBehind[task] = nil
    _ = services.takeLoss(of: task)
    if !recorded.isEmpty { recorded[task] = nil }
    if !unkept.isEmpty { unkept[task] = nil }
    if !restored.isEmpty { restored.remove(task) }
    values.forget(task)
  }

  mutating func breach(
    _ worker: WorkerID, _ word: StaticString, _ task: TaskID, into actions: inout StepQueue
  ) {
    discard(
      worker,
      complaint: "it said '\(word)' of task number \(task.rawValue), which it does not hold",
      into: &actions)
  }

  // MARK: - Going

  /// Orders a worker's end. What it holds is given back when it and all below it are gone
  /// (`workerLost`).
  mutating func discard(
    _ worker: WorkerID, complaint: String, into actions: inout StepQueue
  ) {
    if workforce.discard(worker, complaint: complaint) {
      checks.discard(worker)
      actions.append(.discard(worker))
    }
  }

  /// A worker is gone, and all that was below it.
  mutating func lose(
    _ worker: WorkerID, complaint: String, at now: Instant, into actions: inout StepQueue
  ) {
    guard let loss = workforce.lose(worker, complaint: complaint) else { return }
    loseChecks(of: worker, complaint: loss.complaint, into: &actions)
    bear(loss, at: now, into: &actions)
    scout(loss.site, at: now, into: &actions)
  }

  /// It could not be launched. Where others live, the run goes on with those.
  mutating func launchFailed(
    _ worker: WorkerID, complaint: String, at now: Instant, into actions: inout StepQueue
  ) {
    guard let loss = workforce.launchFailed(worker, complaint: complaint) else { return }
    bear(loss, at: now, into: &actions)
    scout(loss.site, at: now, into: &actions)
  }

  private mutating func bear(
    _ loss: Loss, at now: Instant, into actions: inout StepQueue
  ) {
    if loss.wasLaunching {
      if loss.isLastTry, loss.site != .local {
        giveUp(loss.site, complaint: loss.complaint, at: now, into: &actions)
      }
      giveBackAssigned(Freed(task: loss.current, share: loss.share))
      failUnservable(at: now, into: &actions)
      return
    }
    if let share = loss.share { resources.give(share) }
    if !loss.current.isNone || !loss.ahead.isEmpty, !loss.isSpared {
      noteLoss(at: loss.site, now, into: &actions)
    }
    if !loss.current.isNone {
      interrupted(loss.current, at: loss.site, complaint: loss.complaint, now, into: &actions)
    }
    for task in loss.ahead {
      var transition = Transition(.interrupt, task, reason: loss.isSpared ? .revoked : .workerLost)
      transition.attempt = attempt[task.index]
      if loss.isSpared { attempt[task.index] -= 1 }
      goBack(task, transition, into: &actions)
    }
  }

  /// Its worker is lost, or it was stopped since its machine goes: it runs again, or fails by its own rule, after too
  /// many such losses, or where something of it may still run.
  mutating func interrupted(
    _ task: TaskID, at site: SiteID,
    _ outcome: Outcome = Outcome(status: .unknown, reason: .workerLost), complaint: String,
    _ now: Instant, into actions: inout StepQueue
  ) {
    // However one ends that was told to, that is no failure.
    let wasToEnd = services.stopping.contains(task)
    if isService(task) {
      leaveUsers(of: task, at: now, into: &actions)
      _ = leaveKeptOver(task)
    }
    // That a program goes says nothing of its blocks.
    let isLostTooOften = !isBlock(task) && noteLoss(of: task, at: site) && !wasToEnd
    graph.mark(task, .ran)
    var transition = Transition(.interrupt, task, attempt: attempt[task.index])
    transition.outcome = outcome
    transition.what = complaint
    if let left = leftBehind[task] { transition.left = left }
    if graph.has(.cancelling, task) {
      transition.event = .cancel
      cancelled(task, transition, into: &actions)
    } else if plan.flags(task).contains(.failWhenInterrupted) || isLostTooOften
      || transition.leavesAlive
    {
      forgetTry(of: task)
      transition.event = .failure
      transition.outcome = Outcome(status: .unknown, reason: .workerLost)
      settle(task, as: .failed, transition, into: &actions)
    } else {
      goBack(task, transition, into: &actions)
    }
  }

  /// A loss costs a task none of its tries, but after some of them it is taken to be the reason itself: in a row on this
  /// machine, or on different other ones.
  ///
  /// - Returns: whether that is so by now.
  private mutating func noteLoss(of task: TaskID, at site: SiteID) -> Bool {
    if machines.excuse(at: site) != nil { return false }
    lostCount[task.index] += 1
    if site == .local { return lostCount[task.index] > SchedulerOptions.maxLost }
    return machines.noteLoss(of: task, at: site) || lostCount[task.index] >= Machines.mostLosses
  }

  /// Fails ready tasks of this machine whose kind of worker does not come up, the best first, until `max_failures`
  /// holds back the rest. Their ends may make others ready, which fail in their turn.
  ///
  /// - Returns: whether any failed; what became ready by that and has workers is to be dispatched.
  @discardableResult
  mutating func failUnservable(
    at now: Instant, into actions: inout StepQueue
  ) -> Bool {
    guard workforce.hasComplaints else { return false }
    let complaints = WorkerKind.allCases.map { workforce.complaint(of: $0) }
    if complaints.allSatisfy({ $0 == nil }) { return false }
    var count = failUncheckable(into: &actions) ? 1 : 0
    if !services.waiting.isEmpty, let complaint = complaints[Int(WorkerKind.service.rawValue)],
      failUnservableServices(complaint, at: now, into: &actions)
    {
      count += 1
    }
    if !services.waiting.isEmpty {
      let hopeless = services.waiting.filter { $0.share.site == .local }.map(\.task).filter {
        !isService($0) && complaints[Int(workerKind(of: $0).rawValue)] != nil
      }
      withdrawTaken { hopeless.contains($0) }
    }
    var countBefore = -1
    while count > countBefore, ready.count > 0 {
      countBefore = count
      for rank in ready.removeAll().sorted() {
        let task = TaskID(ranking.task[Int(rank)])
        // A service that stays may have failed before it, which it needs.
        if graph.state(task) != .ready { continue }
        guard resources.isLocal(resources.lane(of: task)),
          let complaint = complaints[Int(workerKind(of: task).rawValue)], mayStart(task)
        else {
          offer(task)
          continue
        }
        var transition = Transition(.failure, task, reason: .workerLost)
        transition.what = complaint
        graph.set(task, .waiting)
        settle(task, as: .failed, transition, into: &actions)
        count += 1
      }
    }
    return count > 0
  }
}
