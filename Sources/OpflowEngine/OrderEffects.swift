internal import OpflowJournal
internal import OpflowPlan
internal import OpflowWire

/// The effect of a control request, one type per verb.
protocol OrderEffect {
  /// Why the request does not apply to the run.
  func fault(of order: Order, in run: Scheduler) -> String?

  /// Returns why it does not apply to a task, as a predicate that follows the task's name.
  ///
  /// - Parameter named: the request's tasks, and those that wait again with them.
  func fault(of task: TaskID, among named: Set<TaskID>, in run: Scheduler) -> String?

  func comingBack(with tasks: [TaskID], in run: Scheduler) -> Set<TaskID>

  /// Returns other tasks that must not start before the decision.
  func fenced(with tasks: [TaskID], in run: Scheduler) -> [TaskID]

  /// Acts before the request is journaled; may complete its line.
  func prepare(_ line: inout OrderEntry, in run: inout Scheduler, into actions: inout StepQueue)

  /// Acts after the request is journaled.
  func perform(
    _ order: Order, on tasks: [TaskID], in run: inout Scheduler, at now: Instant,
    into actions: inout StepQueue)
}

extension OrderEffect {
  func fault(of order: Order, in run: Scheduler) -> String? { nil }
  func fault(of task: TaskID, among named: Set<TaskID>, in run: Scheduler) -> String? {
    nil
  }
  func comingBack(with tasks: [TaskID], in run: Scheduler) -> Set<TaskID> { [] }
  func fenced(with tasks: [TaskID], in run: Scheduler) -> [TaskID] { [] }
  func prepare(
    _ line: inout OrderEntry, in run: inout Scheduler, into actions: inout StepQueue
  ) {}
}

extension OrderVerb {
  var effect: any OrderEffect {
    switch self {
    case .cancel: CancelOrder()
    case .pause: PauseOrder()
    case .proceed: ProceedOrder()
    case .suspend: SuspendOrder()
    case .priority: PriorityOrder()
    case .parallel: ParallelOrder()
    case .retry: RetryOrder()
    case .skip: SkipOrder()
    case .approve, .reject: AnswerOrder(verb: self)
    case .close: CloseOrder()
    }
  }
}

private struct CancelOrder: OrderEffect {
  func fault(of order: Order, in run: Scheduler) -> String? {
    order.isOfRun && run.phase.stopCause != nil ? "the run is stopping already" : nil
  }

  func fault(of task: TaskID, among named: Set<TaskID>, in run: Scheduler) -> String? {
    if run.graph.state(task).isTerminal { return run.ended(task) }
    if run.graph.has(.cancelling, task) { return "is being cancelled already" }
    return run.isStopping(task) ? "is being stopped with the run" : nil
  }

  func prepare(
    _ line: inout OrderEntry, in run: inout Scheduler, into actions: inout StepQueue
  ) {
    run.takeBackResults(of: line.tasks, into: &actions)
  }

  func perform(
    _ order: Order, on tasks: [TaskID], in run: inout Scheduler, at now: Instant,
    into actions: inout StepQueue
  ) {
    if order.isOfRun { return run.stop(.request, at: now, into: &actions) }
    run.cancel(tasks, at: now, into: &actions)
  }
}

private struct PauseOrder: OrderEffect {
  func fault(of order: Order, in run: Scheduler) -> String? {
    if run.phase.stopCause != nil { return "the run is stopping" }
    return run.phase.isPaused ? "the run is paused already" : nil
  }

  func perform(
    _ order: Order, on tasks: [TaskID], in run: inout Scheduler, at now: Instant,
    into actions: inout StepQueue
  ) {
    run.pause(into: &actions)
  }
}

private struct ProceedOrder: OrderEffect {
  func fault(of order: Order, in run: Scheduler) -> String? {
    order.isOfRun && !run.phase.isPaused ? "the run is not paused" : nil
  }

  func fault(of task: TaskID, among named: Set<TaskID>, in run: Scheduler) -> String? {
    if run.graph.state(task).isTerminal { return run.ended(task) }
    return run.graph.has(.onHold, task) ? nil : "is not suspended"
  }

  func perform(
    _ order: Order, on tasks: [TaskID], in run: inout Scheduler, at now: Instant,
    into actions: inout StepQueue
  ) {
    if order.isOfRun { return run.phase.isPaused = false }
    run.proceed(tasks, at: now, into: &actions)
  }
}

private struct SuspendOrder: OrderEffect {
  func fault(of task: TaskID, among named: Set<TaskID>, in run: Scheduler) -> String? {
    if run.graph.state(task).isTerminal { return run.ended(task) }
    if run.graph.has(.cancelling, task) { return "is being cancelled" }
    if run.gates.open[task] != nil { return "waits for an answer, and does nothing meanwhile" }
    if run.isStopping(task) { return "is being stopped with the run" }
    if run.isBlock(task), run.graph.state(task).isRunning {
      return "runs inside the program that offered it, and cannot be stopped there"
    }
    return run.graph.has(.onHold, task) ? "is suspended already" : nil
  }

  func perform(
    _ order: Order, on tasks: [TaskID], in run: inout Scheduler, at now: Instant,
    into actions: inout StepQueue
  ) {
    run.suspend(tasks, at: now, into: &actions)
  }
}

private struct PriorityOrder: OrderEffect {
  func fault(of task: TaskID, among named: Set<TaskID>, in run: Scheduler) -> String? {
    run.graph.state(task).isTerminal ? run.ended(task) : nil
  }

  func perform(
    _ order: Order, on tasks: [TaskID], in run: inout Scheduler, at now: Instant,
    into actions: inout StepQueue
  ) {
    guard case .number(let number) = order.value else { return }
    let priority = Int16(clamping: number)
    run.prioritise(tasks.map { TaskPriority(task: $0, priority: priority) })
  }
}

private struct ParallelOrder: OrderEffect {
  func fault(of order: Order, in run: Scheduler) -> String? {
    guard case .capacity(let resource, let amount) = order.value else { return nil }
    let plan = run.plan
    guard plan.resources.indices.contains(resource) else { return "there is no such resource" }
    if amount == 0, resource <= Int(ResourceEntry.download) {
      let name = plan.string(plan.resources[resource].name)
      return "\(name) cannot be 0; `opflow pause` starts nothing new"
    }
    if resource == plan.gpuResource, amount > run.options.capacities(of: plan)[resource] {
      let most = run.options.capacities(of: plan)[resource]
      return "this machine has \(most / 1000) GPUs"
    }
    return nil
  }

  func perform(
    _ order: Order, on tasks: [TaskID], in run: inout Scheduler, at now: Instant,
    into actions: inout StepQueue
  ) {
    guard case .capacity(let resource, let amount) = order.value else { return }
    run.setCapacity(amount, of: resource, into: &actions)
  }
}

private struct SkipOrder: OrderEffect {
  func fault(of task: TaskID, among named: Set<TaskID>, in run: Scheduler) -> String? {
    let state = run.graph.state(task)
    if state.isTerminal { return run.ended(task) }
    if run.gates.open[task] != nil { return "waits for an answer: approve or reject it" }
    return state.isRunning ? "runs (try \(run.attempt[task.index]))" : nil
  }

  func prepare(
    _ line: inout OrderEntry, in run: inout Scheduler, into actions: inout StepQueue
  ) {
    run.takeBackResults(of: line.tasks, into: &actions)
  }

  func perform(
    _ order: Order, on tasks: [TaskID], in run: inout Scheduler, at now: Instant,
    into actions: inout StepQueue
  ) {
    run.skip(tasks, into: &actions)
  }
}

private struct CloseOrder: OrderEffect {
  func fault(of order: Order, in run: Scheduler) -> String? {
    switch run.openness {
    case .open: nil
    case .closed: "the run is closed already"
    case .ordinary: "the run is none that `opflow serve` keeps open: it ends by itself"
    }
  }

  func perform(
    _ order: Order, on tasks: [TaskID], in run: inout Scheduler, at now: Instant,
    into actions: inout StepQueue
  ) {
    run.openness = .closed
  }
}

/// Answers an open approval.
struct AnswerOrder: OrderEffect {
  let verb: OrderVerb

  func fault(of task: TaskID, among named: Set<TaskID>, in run: Scheduler) -> String? {
    let state = run.graph.state(task)
    guard run.isGate(task) else { return "is no gate: nobody is asked" }
    if run.gates.open[task] != nil { return nil }
    guard state.isTerminal else {
      if run.graph.unmetNeeds(of: task) == 0, !run.mayStart(task) {
        return "asks nobody any more: a task has failed (max_failures), and nothing new starts"
      }
      if run.graph.has(.onHold, task) { return "has not asked yet: it is suspended" }
      if state == .ready, run.phase.isPaused { return "has not asked yet: the run is paused" }
      let open = run.graph.unmetNeeds(of: task)
      return open == 0
        ? "has not asked yet"
        : "has not asked yet: \(open) of its needs \(open == 1 ? "has" : "have") no end"
    }
    guard let answer = run.gates.answers[task], state != .cancelled else {
      return run.ended(task)
    }
    let verb = answer.verb == .approve ? "approved" : "rejected"
    return "was \(verb) already, by \(answer.asker.text)"
  }

  func prepare(
    _ line: inout OrderEntry, in run: inout Scheduler, into actions: inout StepQueue
  ) {
    if verb == .approve { line.fingerprints = line.tasks.map { run.plan.fingerprint($0).whole } }
  }

  func perform(
    _ order: Order, on tasks: [TaskID], in run: inout Scheduler, at now: Instant,
    into actions: inout StepQueue
  ) {
    run.answerGates(tasks, verb, of: order.asker, at: now, into: &actions)
  }
}

/// Retries failed and cancelled tasks of this session, with the dependents skipped for them.
struct RetryOrder: OrderEffect {
  func fault(of order: Order, in run: Scheduler) -> String? {
    if run.phase.stopCause != nil { return "the run is stopping; a resume runs it again" }
    return run.phase.step == .finally
      ? "the `finally` tasks have begun; a resume runs it again afterwards" : nil
  }

  func fault(of task: TaskID, among named: Set<TaskID>, in run: Scheduler) -> String? {
    if run.graph.endedBefore?.contains(task) == true {
      return "\(run.ended(task)); a resume with --rerun runs it again"
    }
    if let names = run.leftAlive[task] {
      return
        "may still run, since opflow could not end process \(names): end it, then resume the run"
    }
    switch run.graph.state(task) {
    case .failed, .cancelled:
      let missing = run.plan.needs(task).contains { edge in
        run.graph.isLacked(edge) && !named.contains(TaskID(run.plan.needTargets[edge]))
      }
      return missing ? "lacks what it needs by now" : nil
    case .failedAllowed:
      guard let dependent = firstThatBuiltOn(task, in: run) else { return nil }
      let name = run.plan.nameString(dependent)
      return "has failed, which is allowed, and \(name) has gone on from that;"
        + " a resume with --rerun runs both again"
    case .skipped:
      guard run.graph.has(.skippedUpstream, task) else { return run.ended(task) }
      let culprit =
        needToRetry(of: task, in: run).map { run.plan.nameString($0) } ?? "what it needs"
      return "was skipped for want of \(culprit): retry that"
    case .succeeded, .upToDate: return run.ended(task)
    case .waiting, .ready, .checking, .handed:
      return run.graph.has(.ran, task) ? "waits for its next try already" : "has not run yet"
    case .running, .suspended:
      return run.gates.open[task] == nil
        ? "runs (try \(run.attempt[task.index]))" : "waits for an answer: approve or reject it"
    }
  }

  /// Returns the first dependent that took the allowed failure for a success.
  private func firstThatBuiltOn(_ task: TaskID, in run: Scheduler) -> TaskID? {
    for edge in run.plan.dependents(task) {
      let dependent = run.plan.dependent(edge)
      switch run.plan.dependentCondition(edge) {
      case .success, .ran: if !run.graph.isPending(dependent) { return dependent }
      case .failure, .finished: continue
      }
    }
    return nil
  }

  /// Returns the failed dependency to retry instead.
  private func needToRetry(of task: TaskID, in run: Scheduler) -> TaskID? {
    var seen: Set<TaskID> = [task]
    var open = [task]
    while let task = open.popLast() {
      for edge in run.plan.needs(task) {
        let need = TaskID(run.plan.needTargets[edge])
        guard run.graph.isLacked(edge), seen.insert(need).inserted else { continue }
        if !run.graph.has(.skippedUpstream, need) { return need }
        open.append(need)
      }
    }
    return nil
  }

  /// The skipped dependents that wait again with the tasks.
  func comingBack(with tasks: [TaskID], in run: Scheduler) -> Set<TaskID> {
    let retried = Set(
      tasks.filter { run.graph.state($0) == .failed || run.graph.state($0) == .cancelled })
    var back: Set<TaskID> = []
    for task in run.graph.skippedForWant(of: Array(retried)) {
      let lacks = run.plan.needs(task).contains { edge in
        let need = TaskID(run.plan.needTargets[edge])
        return run.graph.isLacked(edge) && !retried.contains(need) && !back.contains(need)
      }
      if !lacks { back.insert(task) }
    }
    return back
  }

  /// Those that would lose a met dependency.
  func fenced(with tasks: [TaskID], in run: Scheduler) -> [TaskID] {
    var found: Set<TaskID> = []
    var open = tasks + run.graph.skippedForWant(of: tasks)
    while let task = open.popLast() {
      for edge in run.plan.dependents(task) {
        let dependent = run.plan.dependent(edge)
        guard run.graph.state(dependent) == .handed || run.graph.mayWait(dependent),
          found.insert(dependent).inserted
        else { continue }
        // A service that waits again is taken from its users too.
        if run.isService(dependent) { open.append(dependent) }
      }
    }
    return found.sorted { $0.rawValue < $1.rawValue }
  }

  func prepare(
    _ line: inout OrderEntry, in run: inout Scheduler, into actions: inout StepQueue
  ) {
    for task in line.tasks {
      if !run.graph.uncountEarlierEnd(of: task) {
        if run.graph.state(task) == .failed { run.failures -= 1 }
        if run.graph.state(task) == .cancelled { run.cancelled -= 1 }
      }
      run.triesUsed[task.index] = 0
      run.lostCount[task.index] = 0
      run.machines.forgetLosses(of: task)
      run.release(task)
    }
    line.back = run.graph.reopen(line.tasks)
    if run.ranking.isPartial { run.rankAll() }
    run.services.countUsersAnew()
  }

  func perform(
    _ order: Order, on tasks: [TaskID], in run: inout Scheduler, at now: Instant,
    into actions: inout StepQueue
  ) {
    if run.phase.isHalted { liftHalt(in: &run) }
    run.followChanges(into: &actions)
  }

  private func liftHalt(in run: inout Scheduler) {
    run.graph.endExemption()
    // An exempt task may need tasks that wait again.
    let mayFail = run.options.maxFailures
    guard mayFail == 0 || run.failures < mayFail else { return run.exemptAll() }
    run.phase.endHalt()
    for index in run.plan.tasks {
      let task = TaskID(index)
      if run.graph.state(task) == .failed { run.exemptFailureEdges(of: task) }
      if run.graph.state(task) == .ready { run.letGo(task) }
    }
    let delayed = run.withheld
    run.withheld.removeAll()
    for (task, at) in delayed { run.timers.push(RetryTimer(at: at, task: task)) }
  }
}

extension Scheduler {
  mutating func pause(into actions: inout StepQueue) {
    phase.isPaused = true
    for worker in workforce.living { takeBackAll(of: worker, into: &actions) }
  }

  mutating func cancel(
    _ tasks: [TaskID], at now: Instant, into actions: inout StepQueue
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
    // Closed before the first end, which could withdraw them.
    let questions = takeQuestions(of: tasks)
    for task in pending { spread(from: task, into: &actions) }
    for (task, open) in questions { end(task, open, .cancelled, at: now, into: &actions) }
  }

  mutating func takeBackResults(of tasks: [TaskID], into actions: inout StepQueue) {
    for task in tasks { takeBack(task, .asked, into: &actions) }
  }

  mutating func skip(_ tasks: [TaskID], into actions: inout StepQueue) {
    forget(tasks)
    for task in tasks { graph.set(task, .skipped) }
    for task in tasks { spread(from: task, into: &actions) }
  }

  /// Ends the delays and holds of tasks that get their end.
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

  mutating func suspend(
    _ tasks: [TaskID], at now: Instant, into actions: inout StepQueue
  ) {
    for task in tasks {
      graph.mark(task, .onHold)
      onHold.insert(task)
    }
    for (task, worker) in workersRunning(tasks) {
      workforce.watch.pause(worker, at: now)
      workforce.noteStandstill(true, of: worker)
      takeBackAll(of: worker, into: &actions)
      if graph.state(task) == .running { graph.set(task, .suspended) }
      keepBack(task)
      if workforce.workers[worker.index].isDiscarded { continue }
      actions.append(.order(worker, .suspend(task, attempt: attempt[task.index])))
    }
  }

  mutating func proceed(
    _ tasks: [TaskID], at now: Instant, into actions: inout StepQueue
  ) {
    for task in tasks { release(task) }
    for (task, worker) in workersRunning(tasks) {
      workforce.noteStandstill(false, of: worker)
      if phase.isSuspended { continue }
      workforce.watch.proceed(worker, at: now)
      if graph.state(task) == .suspended { graph.set(task, .running) }
      if workforce.workers[worker.index].isDiscarded { continue }
      actions.append(.order(worker, .proceed(task, attempt: attempt[task.index])))
    }
  }

  /// Continues suspended `finally` tasks, to which a stop must lead.
  mutating func letFinallyGo(at now: Instant, into actions: inout StepQueue) {
    let tasks = onHold.filter { plan.flags($0).contains(.finally) }
      .sorted { $0.rawValue < $1.rawValue }
    if tasks.isEmpty { return }
    proceed(tasks, at: now, into: &actions)
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
  /// `cpu` and `memory`: of the local node. Sets the number of workers too.
  mutating func setCapacity(
    _ amount: UInt64, of resource: Int, into actions: inout StepQueue
  ) {
    let isLess = amount < resources.capacity(of: resource)
    resources.setCapacity(amount, of: resource)
    ready.wakeAll()
    returnSetAside()
    // Prefetched tasks would delay the drain.
    if isLess { for worker in workforce.living { takeBackAll(of: worker, into: &actions) } }
    switch UInt32(truncatingIfNeeded: resource) {
    case ResourceEntry.cpu: workforce.setLimit(of: .command, for: amount)
    case ResourceEntry.download: workforce.setLimit(of: .download, for: amount)
    default: break
    }
  }

  /// Until the session ends. Dependencies inherit them; running tasks are not preempted.
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

  mutating func rankAdded(from first: Int, hasLegs: Bool) {
    let waiting = takeQueued()
    ranking.rankAnew(adding: first, hasLegs: hasLegs, plan, durations, priorities, graph)
    queueAgain(waiting)
  }

  private mutating func takeQueued() -> [TaskID] {
    ready.removeAll().map { TaskID(ranking.task[Int($0)]) }
  }

  private mutating func queueAgain(_ waiting: [TaskID]) {
    for task in waiting { enqueue(task) }
    rankAheadAnew()
  }
}
