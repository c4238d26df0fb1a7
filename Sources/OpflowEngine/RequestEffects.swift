internal import OpflowBase
internal import OpflowJournal
internal import OpflowPlan
internal import OpflowWire

extension Scheduler {
  func faultOfVerb(_ request: ControlRequest) -> String? {
    let isStopping = phase.stopCause != nil
    switch request.verb {
    case .cancel: return request.isOfRun && isStopping ? "the run is already stopping" : nil
    case .pause:
      if isStopping { return "the run is stopping" }
      return phase.isPaused ? "the run is already paused" : nil
    case .proceed: return request.isOfRun && !phase.isPaused ? "the run is not paused" : nil
    case .parallel: return faultOfCapacity(request)
    case .retry:
      if isStopping { return "the run is stopping; then `opflow resume` re-runs failed tasks" }
      return phase.step == .finally
        ? "the `finally` tasks have started; after them, `opflow resume` re-runs failed tasks" : nil
    case .close:
      switch openness {
      case .open: return nil
      case .closed: return "the run is already closed"
      case .ordinary: return "the run was not started by `opflow serve`; it ends by itself"
      }
    case .suspend, .priority, .skip, .approve, .reject: return nil
    }
  }

  private func faultOfCapacity(_ request: ControlRequest) -> String? {
    guard case .capacity(let resource, let amount) = request.value else { return nil }
    guard plan.resources.indices.contains(resource) else { return "the run has no such resource" }
    if amount == 0, resource <= Int(ResourceEntry.download) {
      let name = plan.string(plan.resources[resource].name)
      return "the limit of \(name) cannot be 0; to start no more tasks, use `opflow pause`"
    }
    if resource == plan.gpuResource {
      let most = options.capacities(of: plan)[resource]
      if amount > most { return "this machine has only \(most / 1000) GPUs" }
    }
    return nil
  }

  /// Returns the reason as a predicate that follows the task's name.
  ///
  /// - Parameter named: The request's tasks, and those that wait again with them.
  func fault(_ verb: ControlAction, of task: TaskID, among named: Set<TaskID>) -> String? {
    let state = graph.state(task)
    let isAsked = approvals.open[task] != nil
    switch verb {
    case .retry: return faultOfRetry(of: task, among: named)
    case .approve, .reject: return isAsked ? nil : faultOfAnswer(to: task)
    case .pause, .parallel, .close: return nil
    case _ where state.isTerminal: return ended(task)
    case .cancel:
      if graph.has(.cancelling, task) { return "is already being cancelled" }
      return isStopping(task) ? "is being stopped with the run" : nil
    case .proceed: return graph.has(.onHold, task) ? nil : "is not suspended"
    case .suspend:
      if graph.has(.cancelling, task) { return "is being cancelled" }
      if isAsked { return "waits for approval; you cannot suspend it" }
      if isStopping(task) { return "is being stopped with the run" }
      if isExternal(task), state.isRunning {
        return "runs in the client that offered it; opflow cannot suspend it there"
      }
      return graph.has(.onHold, task) ? "is already suspended" : nil
    case .skip:
      if isAsked { return Self.asksForApproval }
      return state.isRunning ? runningText(of: task) : nil
    case .priority: return nil
    }
  }

  private func faultOfAnswer(to task: TaskID) -> String? {
    guard isApproval(task) else { return "does not ask for approval" }
    let state = graph.state(task)
    if !state.isTerminal { return whyNotAsked(task) }
    guard let answer = approvals.answers[task], state != .cancelled else { return ended(task) }
    let verb = answer.verb == .approve ? "approved" : "rejected"
    return "was already \(verb) by \(answer.requester.text)"
  }

  private func whyNotAsked(_ task: TaskID) -> String {
    let open = graph.unmetNeeds(of: task)
    if open == 0, !mayStart(task) {
      return "no longer asks for approval; opflow reached max_failures and starts no more tasks"
    }
    if graph.has(.onHold, task) { return "has not asked for approval yet; it is suspended" }
    if graph.state(task) == .ready, phase.isPaused {
      return "has not asked for approval yet; the run is paused"
    }
    return open == 0
      ? "has not asked for approval yet"
      : "has not asked for approval yet; it waits for \(open)"
        + " \(open == 1 ? "dependency" : "dependencies")"
  }

  private static let asksForApproval = "waits for approval; approve or reject it"

  private func runningText(of task: TaskID) -> String {
    "is running (attempt \(attempt[task.index]))"
  }

  /// Typed when the run has ended.
  private func rerunCommand(_ task: TaskID) -> String {
    "opflow resume --rerun \(QuotedWords.quoted(plan.nameString(task)))"
  }

  private func faultOfRetry(of task: TaskID, among named: Set<TaskID>) -> String? {
    if graph.endedBefore?.contains(task) == true {
      return "\(ended(task)); to re-run it after this run: \(rerunCommand(task))"
    }
    if let names = leftAlive[task] {
      return
        "may still be running, as opflow could not end process \(names); end it, then resume the"
        + " run"
    }
    switch graph.state(task) {
    case .failed, .cancelled:
      let missing = plan.needs(task).contains {
        graph.isLacked($0) && !named.contains(TaskID(plan.needTargets[$0]))
      }
      return missing ? "cannot run again; its `needs` are no longer met" : nil
    case .failedAllowed:
      guard let dependent = firstThatBuiltOn(task) else { return nil }
      return
        "has failed (allowed), and its dependent \(plan.nameString(dependent)) has started; to"
        + " re-run both after this run: \(rerunCommand(task))"
    case .skipped:
      guard graph.has(.skippedUpstream, task) else { return ended(task) }
      let culprit = needToRetry(of: task).map { plan.nameString($0) } ?? "a dependency"
      return "was skipped because of \(culprit); retry that instead"
    case .succeeded, .upToDate: return ended(task)
    case .waiting, .ready, .checking, .prefetched:
      return graph.has(.ran, task) ? "already waits for its next attempt" : "has not run yet"
    case .running, .suspended:
      return approvals.open[task] == nil ? runningText(of: task) : Self.asksForApproval
    }
  }

  /// Returns the first dependent that used the allowed failure as a success.
  private func firstThatBuiltOn(_ task: TaskID) -> TaskID? {
    for edge in plan.dependents(task) {
      let dependent = plan.dependent(edge)
      switch plan.dependentCondition(edge) {
      case .success, .ran: if !graph.isPending(dependent) { return dependent }
      case .failure, .finished: continue
      }
    }
    return nil
  }

  private func needToRetry(of task: TaskID) -> TaskID? {
    var seen: Set<TaskID> = [task]
    var open = [task]
    while let task = open.popLast() {
      for edge in plan.needs(task) {
        let need = TaskID(plan.needTargets[edge])
        guard graph.isLacked(edge), seen.insert(need).inserted else { continue }
        if !graph.has(.skippedUpstream, need) { return need }
        open.append(need)
      }
    }
    return nil
  }
}

/// Retries of failed and cancelled tasks, with the dependents skipped for them.
extension Scheduler {
  func comingBack(with tasks: [TaskID]) -> Set<TaskID> {
    let retried = Set(tasks.filter { graph.state($0) == .failed || graph.state($0) == .cancelled })
    var back: Set<TaskID> = []
    for task in graph.skippedForWant(of: Array(retried)) {
      let lacks = plan.needs(task).contains { edge in
        let need = TaskID(plan.needTargets[edge])
        return graph.isLacked(edge) && !retried.contains(need) && !back.contains(need)
      }
      if !lacks { back.insert(task) }
    }
    return back
  }

  /// They must not start before the decision.
  func thatWouldLose(_ tasks: [TaskID]) -> [TaskID] {
    var found: Set<TaskID> = []
    var open = tasks + graph.skippedForWant(of: tasks)
    while let task = open.popLast() {
      for edge in plan.dependents(task) {
        let dependent = plan.dependent(edge)
        guard graph.state(dependent) == .prefetched || graph.mayWait(dependent),
          found.insert(dependent).inserted
        else { continue }
        // A service that waits again is also taken from its users.
        if isService(dependent) { open.append(dependent) }
      }
    }
    return found.sorted { $0.rawValue < $1.rawValue }
  }

  private mutating func reopen(_ tasks: [TaskID]) -> [TaskID] {
    for task in tasks {
      if !graph.uncountEarlierEnd(of: task) {
        if graph.state(task) == .failed { failures -= 1 }
        if graph.state(task) == .cancelled { cancelled -= 1 }
      }
      triesUsed[task.index] = 0
      lostCount[task.index] = 0
      machines.forgetLosses(of: task)
      release(task)
    }
    let back = graph.reopen(tasks)
    if ranking.isPartial { rankAll() }
    services.countUsersAnew()
    return back
  }

  private mutating func liftHalt() {
    graph.endExemption()
    // An exempt task may need tasks that wait again.
    guard options.maxFailures == 0 || failures < options.maxFailures else { return exemptAll() }
    phase.endHalt()
    for index in plan.tasks {
      let task = TaskID(index)
      if graph.state(task) == .failed { exemptFailureEdges(of: task) }
      if graph.state(task) == .ready { letGo(task) }
    }
    let delayed = withheld
    withheld.removeAll()
    for (task, at) in delayed { timers.push(RetryTimer(at: at, task: task)) }
  }
}

extension Scheduler {
  /// May complete the line before it is journaled.
  mutating func prepare(_ line: inout RequestEntry) {
    switch line.verb {
    case .cancel, .skip: for task in line.tasks { takeBack(task, .asked) }
    case .approve: line.fingerprints = line.tasks.map { plan.fingerprint($0).whole }
    case .retry: line.back = reopen(line.tasks)
    case .pause, .proceed, .suspend, .priority, .parallel, .reject, .close: break
    }
  }

  mutating func perform(_ request: ControlRequest, on tasks: [TaskID]) {
    switch request.verb {
    case .cancel where request.isOfRun: stop(.request)
    case .cancel: cancel(tasks)
    case .pause: pause()
    case .proceed where request.isOfRun: phase.isPaused = false
    case .proceed: proceed(tasks)
    case .suspend: suspend(tasks)
    case .priority:
      guard case .number(let number) = request.value else { return }
      let priority = Int16(clamping: number)
      prioritise(tasks.map { TaskPriority(task: $0, priority: priority) })
    case .parallel:
      guard case .capacity(let resource, let amount) = request.value else { return }
      setCapacity(amount, of: resource)
    case .retry:
      if phase.isHalted { liftHalt() }
      followChanges()
    case .skip: skip(tasks)
    case .approve, .reject: answerApprovals(tasks, request.verb, of: request.requester)
    case .close: openness = .closed
    }
  }
}

extension Scheduler {
  mutating func pause() {
    phase.isPaused = true
    for worker in workforce.living { takeBackAll(of: worker) }
  }

  mutating func cancel(_ tasks: [TaskID]) {
    let pending = tasks.filter { !graph.state($0).isRunning }
    for (task, worker) in workersRunning(tasks) {
      graph.mark(task, .cancelling)
      let record = workforce.workers[worker.index]
      if record.isDiscarded || record.isStopping { continue }
      stopCurrent(of: worker, .cancel)
    }
    forget(pending)
    for task in pending {
      cancelled += 1
      graph.set(task, .cancelled)
    }
    // Closed before the first end, which could retract them.
    let questions = takeQuestions(of: tasks)
    for task in pending { spread(from: task) }
    for (task, open) in questions { end(task, open, .cancelled) }
  }

  mutating func skip(_ tasks: [TaskID]) {
    forget(tasks)
    for task in tasks { graph.set(task, .skipped) }
    for task in tasks { spread(from: task) }
  }

  mutating func forget(_ tasks: [TaskID]) {
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

  mutating func release(_ task: TaskID) {
    graph.unmark(task, .onHold)
    onHold.remove(task)
  }

  mutating func suspend(_ tasks: [TaskID]) {
    for task in tasks {
      graph.mark(task, .onHold)
      onHold.insert(task)
    }
    for (task, worker) in workersRunning(tasks) {
      workforce.watch.pause(worker, at: now)
      workforce.noteStandstill(true, of: worker)
      takeBackAll(of: worker)
      if graph.state(task) == .running { graph.set(task, .suspended) }
      keepBack(task)
      if workforce.workers[worker.index].isDiscarded { continue }
      send(.suspend(task, attempt: attempt[task.index]), to: worker)
    }
  }

  mutating func proceed(_ tasks: [TaskID]) {
    for task in tasks { release(task) }
    for (task, worker) in workersRunning(tasks) {
      workforce.noteStandstill(false, of: worker)
      if phase.isSuspended { continue }
      workforce.watch.proceed(worker, at: now)
      if graph.state(task) == .suspended { graph.set(task, .running) }
      if workforce.workers[worker.index].isDiscarded { continue }
      send(.proceed(task, attempt: attempt[task.index]), to: worker)
    }
  }

  /// Continues suspended `finally` tasks, which a stop must run.
  mutating func letFinallyGo() {
    let tasks = onHold.filter { plan.flags($0).contains(.finally) }
      .sorted { $0.rawValue < $1.rawValue }
    if tasks.isEmpty { return }
    proceed(tasks)
    for task in tasks { letGo(task) }
  }

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

extension Scheduler {
  /// `cpu` and `memory` are the local node's. Also sets the number of workers.
  mutating func setCapacity(_ amount: UInt64, of resource: Int) {
    let isLess = amount < resources.capacity(of: resource)
    resources.setCapacity(amount, of: resource)
    ready.wakeAll()
    returnSetAside()
    // Prefetched tasks would delay the drain.
    if isLess { for worker in workforce.living { takeBackAll(of: worker) } }
    switch UInt32(truncatingIfNeeded: resource) {
    case ResourceEntry.cpu: workforce.setLimit(of: .command, for: amount)
    case ResourceEntry.download: workforce.setLimit(of: .download, for: amount)
    default: break
    }
  }

  /// Priorities are valid until the session ends. Dependencies inherit them; running tasks are not
  /// preempted.
  mutating func prioritise(_ tasks: [TaskPriority]) {
    for entry in tasks where plan.tasks.contains(entry.task.index) {
      priorities[entry.task] = entry.priority
    }
    rankAll()
  }

  mutating func rankAll() {
    let waiting = takeQueued()
    ranking = Ranking(plan: plan, durations: durations, priorities: priorities)
    queueAgain(waiting)
  }

  mutating func rankAdded(from first: Int, hasInstances: Bool) {
    let waiting = takeQueued()
    ranking.rankAnew(adding: first, hasInstances: hasInstances, plan, durations, priorities, graph)
    queueAgain(waiting)
  }

  private mutating func takeQueued() -> [TaskID] {
    ready.removeAll().map { TaskID(ranking.task[Int($0)]) }
  }

  private mutating func queueAgain(_ waiting: [TaskID]) {
    for task in waiting { enqueue(task) }
    rankPrefetchedAgain()
  }
}
