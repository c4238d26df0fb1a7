/// Obeying orders: what of each is decided when, and by what its tasks are kept meanwhile.
extension Scheduler {
  /// Decides the orders whose turn it is.
  mutating func obey(at now: Instant, into actions: inout [EngineStep]) {
    while let entry = orders.first {
      let order = entry.order
      if let count = orders.count(of: order.id) {
        answer(.done(count: count), into: &actions)
        continue
      }
      if let what = orders.refusal(of: order.id) {
        answer(.refused(what: what), into: &actions)
        continue
      }
      if entry.fenced == nil {
        if let fault = faultOfRun(order) {
          answer(.refused(what: fault), into: &actions)
          continue
        }
        fence(order, into: &actions)
      }
      if orders.awaits({ graph.state($0) == .handed }) { return }
      decide(order, at: now, into: &actions)
    }
  }

  private mutating func answer(_ answer: OrderAnswer, into actions: inout [EngineStep]) {
    let entry = orders.removeFirst()
    actions.append(.answer(entry.client, entry.order.id, answer))
    if case .refused(let what) = answer { orders.note(refusal: what, of: entry.order.id) }
    for task in entry.fenced ?? [] { graph.unmark(task, .fenced) }
    for task in entry.fenced ?? [] { letGo(task) }
  }

  // MARK: - Fencing

  /// Keeps what the order is about from starting until it is decided.
  private mutating func fence(_ order: Order, into actions: inout [EngineStep]) {
    var tasks = (order.tasks + order.among).filter { !graph.state($0).isTerminal }
    if order.action == .retry { tasks += pendingDependents(of: order.tasks + order.among) }
    orders.fence(tasks)
    if tasks.isEmpty { return }
    var ranks: Set<Int32> = []
    var lanes: Set<Int> = []
    var isAway: Set<TaskID> = []
    for task in tasks {
      graph.mark(task, .fenced)
      switch graph.state(task) {
      case .ready where isGate(task):
        if graph.has(.held, task) { break }
        gates.removeReady(task)
        graph.mark(task, .held)
      case .ready where !graph.has(.held, task):
        ranks.insert(ranking.rank[task.index])
        lanes.insert(resources.lane(of: task))
        isAway.insert(task)
      case .handed: isAway.insert(task)
      default: break
      }
    }
    if isAway.isEmpty { return }
    ready.remove(ranks, of: lanes)
    takeBack(isAway, into: &actions)
    for task in isAway where graph.state(task) == .ready { graph.mark(task, .held) }
  }

  /// What a retry takes a need from that was there.
  private func pendingDependents(of tasks: [TaskID]) -> [TaskID] {
    let all = tasks + graph.skippedForWant(of: tasks)
    return all.flatMap { task in
      plan.dependents(task).lazy.map { TaskID(plan.dependentTargets[$0]) }
    }.filter { graph.state($0) == .handed || graph.isPending($0) }
  }

  /// From workers that are on their way, and from those that were handed them ahead; those answer.
  private mutating func takeBack(_ tasks: Set<TaskID>, into actions: inout [EngineStep]) {
    for worker in workforce.living {
      let record = workforce.workers[worker.index]
      if record.phase == .launching, tasks.contains(record.current) {
        let freed = workforce.withdraw(worker)
        if let share = freed.share { resources.give(share) }
      }
      if record.isDiscarded { continue }
      for place in record.ahead.indices where tasks.contains(record.ahead[place].task) {
        revokeAhead(place, of: worker, into: &actions)
      }
    }
  }

  // MARK: - Deciding

  /// Nothing that the order is about is on its way.
  private mutating func decide(
    _ order: Order, at now: Instant, into actions: inout [EngineStep]
  ) {
    var entry = OrderEntry(id: order.id, verb: order.action.verb, asker: order.asker)
    entry.expects = order.expects
    // A run may have come to its end while the order waited.
    if let fault = faultOfRun(order) ?? fault(order, choosing: &entry.tasks) {
      return answer(.refused(what: fault), into: &actions)
    }
    switch order.action {
    case .priority(let priority): entry.value = Int64(priority)
    case .capacity(let resource, let amount):
      entry.resource = plan.string(plan.resources[resource].name)
      entry.value = Int64(clamping: amount)
    case .retry:
      // Its line comes before what follows from it, and names what waits again.
      retry(&entry, into: &actions)
    case .approve: entry.fingerprints = entry.tasks.map { plan.fingerprint($0).whole }
    case .cancel, .pause, .proceed, .suspend, .skip, .reject: break
    }
    orders.note(order.id, count: entry.tasks.count)
    if order.action != .retry { actions.append(.tell(.order(entry))) }
    perform(order, on: entry.tasks, at: now, into: &actions)
    answer(.done(count: entry.tasks.count), into: &actions)
  }

  private mutating func perform(
    _ order: Order, on tasks: [TaskID], at now: Instant, into actions: inout [EngineStep]
  ) {
    switch order.action {
    case .cancel where order.isOfRun: stop(.request, at: now, into: &actions)
    case .cancel: cancel(tasks, at: now, into: &actions)
    case .pause: pause(into: &actions)
    case .proceed where order.isOfRun: phase.isPaused = false
    case .proceed: proceed(tasks, at: now, into: &actions)
    case .suspend: suspend(tasks, at: now, into: &actions)
    case .priority(let priority):
      prioritise(tasks.map { TaskPriority(task: $0, priority: priority) })
    case .capacity(let resource, let amount):
      setCapacity(amount, of: resource, into: &actions)
    case .retry: followChanges(into: &actions)
    case .skip: skip(tasks, into: &actions)
    case .approve, .reject:
      answerGates(tasks, order.action.verb, of: order.asker, at: now, into: &actions)
    }
  }

  // MARK: - Effects

  /// Nothing new starts, also of what was handed ahead.
  private mutating func pause(into actions: inout [EngineStep]) {
    phase.isPaused = true
    for worker in workforce.living { takeBackAll(of: worker, into: &actions) }
  }

  private mutating func cancel(
    _ tasks: [TaskID], at now: Instant, into actions: inout [EngineStep]
  ) {
    let pending = tasks.filter { !graph.state($0).isRunning }
    for (task, worker) in workersRunning(tasks) {
      graph.mark(task, .cancelling)
      let record = workforce.workers[worker.index]
      if record.isDiscarded || record.isStopping { continue }
      stopCurrent(of: worker, .cancel, at: now, into: &actions)
    }
    forget(pending)
    for task in pending {
      cancelled += 1
      graph.set(task, .cancelled)
    }
    for task in pending { spread(from: task, into: &actions) }
    for task in tasks where isGate(task) { closeGate(task, .cancelled, at: now, into: &actions) }
  }

  private mutating func skip(_ tasks: [TaskID], into actions: inout [EngineStep]) {
    forget(tasks)
    for task in tasks { graph.set(task, .skipped) }
    for task in tasks { spread(from: task, into: &actions) }
  }

  /// Pending tasks come to their end: nothing waits for their time any more.
  private mutating func forget(_ tasks: [TaskID]) {
    var delayed: Set<TaskID> = []
    for task in tasks {
      if graph.has(.delayed, task) { delayed.insert(task) }
      graph.unmark(task, .delayed)
      graph.unmark(task, .held)
      release(task)
      withheld[task] = nil
    }
    if !delayed.isEmpty { timers.remove { delayed.contains($0.task) } }
  }

  /// It is on hold no more.
  private mutating func release(_ task: TaskID) {
    graph.unmark(task, .onHold)
    onHold.remove(task)
  }

  private mutating func suspend(
    _ tasks: [TaskID], at now: Instant, into actions: inout [EngineStep]
  ) {
    for task in tasks {
      graph.mark(task, .onHold)
      onHold.insert(task)
    }
    for (task, worker) in workersRunning(tasks) {
      workforce.watch.pause(worker, at: now)
      workforce.noteStandstill(true, of: worker)
      // What is behind it would wait as long.
      takeBackAll(of: worker, into: &actions)
      if graph.state(task) == .running { graph.set(task, .suspended) }
      if workforce.workers[worker.index].isDiscarded { continue }
      actions.append(.order(worker, .suspend(task, attempt: attempt[task.index])))
    }
  }

  private mutating func proceed(
    _ tasks: [TaskID], at now: Instant, into actions: inout [EngineStep]
  ) {
    for task in tasks { release(task) }
    for (task, worker) in workersRunning(tasks) {
      workforce.noteStandstill(false, of: worker)
      // The whole run stands still: with it the task goes on.
      if phase.isSuspended { continue }
      workforce.watch.proceed(worker, at: now)
      if graph.state(task) == .suspended { graph.set(task, .running) }
      if workforce.workers[worker.index].isDiscarded { continue }
      actions.append(.order(worker, .proceed(task, attempt: attempt[task.index])))
    }
  }

  /// What an order suspended of what a stop is to lead to.
  mutating func letFinallyGo(at now: Instant, into actions: inout [EngineStep]) {
    let tasks = onHold.filter { plan.flags($0).contains(.finally) }
      .sorted { $0.rawValue < $1.rawValue }
    if tasks.isEmpty { return }
    proceed(tasks, at: now, into: &actions)
    for task in tasks { letGo(task) }
  }

  private mutating func retry(_ entry: inout OrderEntry, into actions: inout [EngineStep]) {
    for task in entry.tasks {
      if graph.state(task) == .failed { failures -= 1 }
      if graph.state(task) == .cancelled { cancelled -= 1 }
      triesUsed[task.index] = 0
      lostCount[task.index] = 0
      release(task)
    }
    entry.back = graph.reopen(entry.tasks)
    actions.append(.tell(.order(entry)))
    guard phase.isHalted, options.maxFailures == 0 || failures < options.maxFailures else { return }
    phase.endHalt()
    graph.endExemption()
    for index in plan.tasks {
      let task = TaskID(index)
      if graph.state(task) == .failed { exemptFailureEdges(of: task) }
      if graph.state(task) == .ready { letGo(task) }
    }
    let delayed = withheld
    withheld.removeAll()
    for (task, at) in delayed { timers.push(RetryTimer(at: at, task: task)) }
  }

  /// Who runs each of the tasks; those that do not run are left out.
  private func workersRunning(_ tasks: [TaskID]) -> [(TaskID, WorkerID)] {
    let running = tasks.filter { graph.state($0).isRunning }
    if running.isEmpty { return [] }
    let wanted = Set(running)
    return workforce.living.compactMap { worker in
      let task = workforce.workers[worker.index].current
      return wanted.contains(task) ? (task, worker) : nil
    }
  }
}
