extension Scheduler {
  /// A worker that is free, or one that is being launched for the task; nil when there are as many
  /// as there may be.
  mutating func workerForStart(
    _ kind: WorkerKind, at now: Instant, into actions: inout [EngineStep]
  ) -> WorkerID? {
    let fleet = Int(kind.rawValue)
    if let idle = fleets[fleet].idle.popLast() { return idle }
    guard fleets[fleet].complaint == nil, fleets[fleet].mayGrow,
      fleets[fleet].launching < SchedulerOptions.maxLaunching
    else { return nil }
    let worker = WorkerID(Int32(truncatingIfNeeded: workers.count))
    var record = WorkerRecord(kind: kind)
    record.deadline.set(now.advanced(byMilliseconds: SchedulerOptions.helloMilliseconds))
    workers.append(record)
    aliveWorkers.append(worker)
    fleets[fleet].noteLaunch(at: now)
    actions.append(.launch(worker, kind))
    return worker
  }

  /// Whether the worker may speak of that try as its running one. Where the task before it has
  /// ended, the one handed ahead becomes that: the worker started it before an order to stop or to
  /// give it back arrived.
  mutating func holds(
    _ worker: WorkerID, _ task: TaskID, _ attempt: Int32, at now: Instant,
    into actions: inout [EngineStep]
  ) -> Bool {
    guard workers.indices.contains(worker.index), workers[worker.index].phase == .busy,
      !workers[worker.index].isDiscarded, plan.tasks.contains(task.index),
      self.attempt[task.index] == attempt
    else { return false }
    hear(worker)
    if workers[worker.index].current == task {
      noteBegun(task, into: &actions)
      return true
    }
    guard workers[worker.index].current.isNone, workers[worker.index].ahead.first?.task == task
    else {
      return false
    }
    followOn(worker, at: now)
    noteBegun(task, into: &actions)
    if stopCause != nil { stopCurrent(of: worker, at: now, into: &actions) }
    return true
  }

  /// The worker speaks of a task that it was handed ahead: it has begun with it.
  mutating func noteBegun(_ task: TaskID, into actions: inout [EngineStep]) {
    guard state(task) == .handed else { return }
    set(task, .running)
    if isSuspended { set(task, .suspended) }
    actions.append(.began(task, attempt: attempt[task.index]))
  }

  /// The first task handed ahead is now the one that is to run.
  private mutating func followOn(_ worker: WorkerID, at now: Instant) {
    fleets[Int(workers[worker.index].kind.rawValue)].noteStart(at: now)
    workers[worker.index].current = workers[worker.index].ahead.removeFirst().task
    workers[worker.index].deadline.clear()
    aheadCount -= 1
  }

  /// A worker is there. It gets the best of what is ready by now, which need not be the task that it
  /// was launched for.
  mutating func welcome(_ worker: WorkerID, at now: Instant) {
    guard workers.indices.contains(worker.index), workers[worker.index].phase == .launching,
      !workers[worker.index].isDiscarded
    else { return }
    let fleet = Int(workers[worker.index].kind.rawValue)
    fleets[fleet].silent = 0
    fleets[fleet].launching -= 1
    workers[worker.index].deadline.clear()
    if listenAt == nil, options.watchesWorkers { listenAnew(at: now) }
    let task = workers[worker.index].current
    workers[worker.index].current = .none
    becomeIdle(worker)
    giveBackAssigned(task)
  }

  /// Frees a worker from the task that ended. The next one handed ahead follows: the worker starts
  /// it by itself after a success, and gives all back after anything else.
  mutating func release(_ worker: WorkerID, continues: Bool, at now: Instant) {
    let record = workers[worker.index]
    let demand = Int(plan.demand[record.current.index])
    heldByWorkers -= 1
    workers[worker.index].current = .none
    workers[worker.index].deadline.clear()
    if record.ahead.isEmpty {
      pool.give(demand)
      becomeIdle(worker)
    } else if continues, !record.isStopping {
      // It has the same demand and takes over what this one held. It may still be given back, if
      // the order to revoke it came first.
      followOn(worker, at: now)
    } else {
      workers[worker.index].deadline.set(
        now.advanced(byMilliseconds: SchedulerOptions.stopSlackMilliseconds))
    }
    workers[worker.index].isStopping = false
  }

  private mutating func becomeIdle(_ worker: WorkerID) {
    workers[worker.index].phase = .idle
    fleets[Int(workers[worker.index].kind.rawValue)].idle.append(worker)
  }

  /// A task that was handed ahead comes back unstarted; it costs no try.
  mutating func revoked(
    _ worker: WorkerID, _ task: TaskID, _ attempt: Int32, into actions: inout [EngineStep]
  ) {
    guard workers.indices.contains(worker.index), workers[worker.index].phase == .busy,
      !workers[worker.index].isDiscarded, plan.tasks.contains(task.index),
      self.attempt[task.index] == attempt
    else {
      breach(worker, "revoked", task, into: &actions)
      return
    }
    hear(worker)
    let demand = Int(plan.demand[task.index])
    if let place = workers[worker.index].ahead.firstIndex(where: { $0.task == task }) {
      workers[worker.index].ahead.remove(at: place)
      aheadCount -= 1
      heldByWorkers -= 1
      if workers[worker.index].current.isNone, workers[worker.index].ahead.isEmpty {
        workers[worker.index].deadline.clear()
        pool.give(demand)
        becomeIdle(worker)
      }
    } else if workers[worker.index].current == task, workers[worker.index].ahead.isEmpty {
      heldByWorkers -= 1
      workers[worker.index].current = .none
      workers[worker.index].deadline.clear()
      workers[worker.index].isStopping = false
      pool.give(demand)
      becomeIdle(worker)
    } else {
      breach(worker, "revoked", task, into: &actions)
      return
    }
    var transition = Transition(.interrupt, task, reason: .revoked)
    transition.attempt = attempt
    self.attempt[task.index] -= 1
    goBack(task, transition, into: &actions)
  }

  /// A running task returns to where it may be started again.
  private mutating func goBack(
    _ task: TaskID, _ transition: Transition, into actions: inout [EngineStep]
  ) {
    fetches[task] = nil
    leftBehind[task] = nil
    set(task, .waiting)
    actions.append(.tell(.transition(transition)))
    becomeReady(task)
  }

  /// A worker that says what cannot be is no worker.
  mutating func breach(
    _ worker: WorkerID, _ word: StaticString, _ task: TaskID, into actions: inout [EngineStep]
  ) {
    discard(
      worker,
      complaint: "it said '\(word)' of task number \(task.rawValue), which it does not hold",
      into: &actions)
  }

  /// Orders a worker's end. What it holds is given back when it and all below it are gone
  /// (`workerLost`): until then its task may still run, and must not run anywhere else.
  mutating func discard(
    _ worker: WorkerID, complaint: String, into actions: inout [EngineStep]
  ) {
    guard workers.indices.contains(worker.index), workers[worker.index].phase != .gone,
      !workers[worker.index].isDiscarded
    else { return }
    workers[worker.index].isDiscarded = true
    workers[worker.index].complaint = complaint
    workers[worker.index].deadline.clear()
    workers[worker.index].answerBy = nil
    fleets[Int(workers[worker.index].kind.rawValue)].idle.removeAll { $0 == worker }
    actions.append(.discard(worker))
  }

  /// A worker is gone, and all that was below it.
  mutating func lose(
    _ worker: WorkerID, complaint: String, into actions: inout [EngineStep]
  ) {
    guard workers.indices.contains(worker.index), workers[worker.index].phase != .gone else {
      return
    }
    let record = workers[worker.index]
    let complaint = record.isDiscarded ? record.complaint : complaint
    bury(worker)
    let fleet = Int(record.kind.rawValue)
    if record.phase == .launching {
      fleets[fleet].silent += 1
      giveBackAssigned(record.current)
      if fleets[fleet].silent >= SchedulerOptions.maxSilent {
        if fleets[fleet].alive > 0 {
          fleets[fleet].limit = fleets[fleet].alive
        } else {
          fleets[fleet].complaint = complaint
          failUnservable(into: &actions)
        }
      }
      return
    }
    if record.phase == .busy { pool.give(Int(plan.demand[record.holder.index])) }
    if !record.current.isNone {
      heldByWorkers -= 1
      interrupted(record.current, complaint: complaint, into: &actions)
    }
    for task in record.ahead.map(\.task) {
      heldByWorkers -= 1
      aheadCount -= 1
      var transition = Transition(.interrupt, task, reason: .workerLost)
      transition.attempt = attempt[task.index]
      goBack(task, transition, into: &actions)
    }
  }

  /// It could not be launched. Where others live, the run goes on with those.
  mutating func launchFailed(
    _ worker: WorkerID, complaint: String, into actions: inout [EngineStep]
  ) {
    guard workers.indices.contains(worker.index), workers[worker.index].phase == .launching else {
      return
    }
    let fleet = Int(workers[worker.index].kind.rawValue)
    guard fleets[fleet].alive > 1 else {
      lose(worker, complaint: complaint, into: &actions)
      return
    }
    let task = workers[worker.index].current
    bury(worker)
    fleets[fleet].limit = fleets[fleet].alive
    giveBackAssigned(task)
  }

  private mutating func bury(_ worker: WorkerID) {
    let fleet = Int(workers[worker.index].kind.rawValue)
    if workers[worker.index].phase == .launching { fleets[fleet].launching -= 1 }
    workers[worker.index].phase = .gone
    workers[worker.index].current = .none
    workers[worker.index].ahead = []
    workers[worker.index].deadline.clear()
    workers[worker.index].answerBy = nil
    fleets[fleet].alive -= 1
    fleets[fleet].idle.removeAll { $0 == worker }
    aliveWorkers.removeAll { $0 == worker }
  }

  /// A task that a worker was to get when it said hello; nothing of it was journaled.
  mutating func giveBackAssigned(_ task: TaskID) {
    guard !task.isNone else { return }
    heldByWorkers -= 1
    pool.give(Int(plan.demand[task.index]))
    if mayStart(task) {
      enqueue(task)
    } else {
      marks[task.index].insert(.held)
    }
  }

  /// Its worker is lost: it runs again, or fails by its own rule or after too many such losses.
  private mutating func interrupted(
    _ task: TaskID, complaint: String, into actions: inout [EngineStep]
  ) {
    lostCount[task.index] += 1
    marks[task.index].insert(.ran)
    var transition = Transition(.interrupt, task, reason: .workerLost)
    transition.attempt = attempt[task.index]
    transition.what = complaint
    if plan.flags(task).contains(.failWhenInterrupted)
      || lostCount[task.index] > SchedulerOptions.maxLost
    {
      transition.event = .failure
      settle(task, as: .failed, transition, into: &actions)
    } else {
      goBack(task, transition, into: &actions)
    }
  }

  /// Fails ready tasks whose kind of worker does not come up, the best first, until `max_failures`
  /// holds back the rest. Their ends may make others ready, which fail in their turn.
  ///
  /// - Returns: whether any failed; what became ready by that and has workers is to be dispatched.
  @discardableResult
  mutating func failUnservable(into actions: inout [EngineStep]) -> Bool {
    guard fleets.contains(where: { $0.complaint != nil }) else { return false }
    var count = 0
    var countBefore = -1
    while count > countBefore, ready.count > 0 {
      countBefore = count
      for rank in ready.removeAll().sorted() {
        let task = TaskID(ranking.task[Int(rank)])
        guard let complaint = fleets[Int(workerKind(of: task).rawValue)].complaint, mayStart(task)
        else {
          if mayStart(task) { enqueue(task) } else { marks[task.index].insert(.held) }
          continue
        }
        var transition = Transition(.failure, task, reason: .workerLost)
        transition.what = complaint
        set(task, .waiting)
        settle(task, as: .failed, transition, into: &actions)
        count += 1
      }
    }
    return count > 0
  }
}
