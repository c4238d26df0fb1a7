internal import OpflowJournal
internal import OpflowPlan

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
