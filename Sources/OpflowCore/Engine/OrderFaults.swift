/// Why an order does not apply, as the asker reads it.
extension Scheduler {
  /// Why it does not apply to the run as it stands; nil where it may.
  func faultOfRun(_ order: Order) -> String? {
    if phase.step == .done { return "the run has ended" }
    for task in order.tasks + order.among where !plan.tasks.contains(task.index) {
      return "there is no task number \(task.rawValue)"
    }
    switch order.action {
    case .cancel where order.isOfRun:
      return phase.stopCause == nil ? nil : "the run is stopping already"
    case .pause:
      if phase.stopCause != nil { return "the run is stopping" }
      return phase.isPaused ? "the run is paused already" : nil
    case .proceed where order.isOfRun: return phase.isPaused ? nil : "the run is not paused"
    case .close:
      return switch openness {
      case .open: nil
      case .closed: "the run is closed already"
      case .ordinary: "the run is none that `opflow serve` keeps open: it ends by itself"
      }
    case .retry:
      if phase.stopCause != nil { return "the run is stopping; a resume runs it again" }
      if phase.step == .finally {
        return "the `finally` tasks have begun; a resume runs it again afterwards"
      }
    case .capacity(let resource, let amount):
      guard plan.resources.indices.contains(resource) else { return "there is no such resource" }
      if amount == 0, resource <= Int(ResourceEntry.download) {
        let name = plan.string(plan.resources[resource].name)
        return "\(name) cannot be 0; `opflow pause` starts nothing new"
      }
      if resource == plan.gpuResource, amount > options.capacities(of: plan)[resource] {
        let most = options.capacities(of: plan)[resource]
        return "this machine has \(most / 1000) GPUs"
      }
      return nil
    case .cancel, .proceed, .suspend, .priority, .skip, .approve, .reject: break
    }
    return order.isOfRun ? "it names no task" : nil
  }

  /// Why it does not apply to its tasks; nil where it does.
  ///
  /// - Parameter tasks: those to which it does.
  func fault(_ order: Order, choosing tasks: inout [TaskID]) -> String? {
    if order.isOfRun { return nil }
    let back = order.action == .retry ? comingBack(with: order.tasks) : []
    // What waits again in any case is not tried again by itself: the order is one for the others.
    let named = Set(order.tasks).union(back)
    var chosen = Set(order.tasks).subtracting(back)
    for task in order.tasks where !back.contains(task) {
      if let fault = fault(order, task, among: named) { return "\(plan.nameString(task)) \(fault)" }
    }
    var first: String?
    for task in order.among where !chosen.contains(task) && !back.contains(task) {
      if let fault = fault(order, task, among: named) {
        if first == nil { first = "\(plan.nameString(task)) \(fault)" }
      } else {
        chosen.insert(task)
      }
    }
    if chosen.isEmpty {
      let others = order.among.count - 1
      return (first ?? "") + (others > 0 ? ", and it applies to none of \(others) others" : "")
    }
    tasks = chosen.sorted { $0.rawValue < $1.rawValue }
    return nil
  }

  /// What is so of a task that the order does not apply to, behind its name.
  private func fault(_ order: Order, _ task: TaskID, among named: Set<TaskID>) -> String? {
    if graph.leftOut?.contains(task) == true { return "is no part of this run" }
    if order.expects > 0, attempt[task.index] != order.expects {
      return "is at try \(attempt[task.index]) by now, not \(order.expects)"
    }
    let state = graph.state(task)
    switch order.action {
    case .retry: return faultOfRetry(task, state, among: named)
    case .cancel:
      if state.isTerminal { return ended(task, state) }
      if graph.has(.cancelling, task) { return "is being cancelled already" }
      return phase.stopCause != nil && state.isRunning ? "is being stopped with the run" : nil
    case .suspend:
      if state.isTerminal { return ended(task, state) }
      if graph.has(.cancelling, task) { return "is being cancelled" }
      if gates.open[task] != nil { return "waits for an answer, and does nothing meanwhile" }
      if phase.stopCause != nil, state.isRunning { return "is being stopped with the run" }
      return graph.has(.onHold, task) ? "is suspended already" : nil
    case .proceed:
      if state.isTerminal { return ended(task, state) }
      return graph.has(.onHold, task) ? nil : "is not suspended"
    case .skip:
      if state.isTerminal { return ended(task, state) }
      if gates.open[task] != nil { return "waits for an answer: approve or reject it" }
      return state.isRunning ? "runs (try \(attempt[task.index]))" : nil
    case .approve, .reject: return faultOfAnswer(task, state)
    case .priority: return state.isTerminal ? ended(task, state) : nil
    case .pause, .capacity, .close: return nil
    }
  }

  private func faultOfAnswer(_ task: TaskID, _ state: TaskState) -> String? {
    guard isGate(task) else { return "is no gate: nobody is asked" }
    if gates.open[task] != nil { return nil }
    guard state.isTerminal else {
      if graph.unmetNeeds(of: task) == 0, !mayStart(task) {
        return "asks nobody any more: a task has failed (max_failures), and nothing new starts"
      }
      if graph.has(.onHold, task) { return "has not asked yet: it is suspended" }
      if state == .ready, phase.isPaused { return "has not asked yet: the run is paused" }
      let open = graph.unmetNeeds(of: task)
      return open == 0
        ? "has not asked yet"
        : "has not asked yet: \(open) of its needs \(open == 1 ? "has" : "have") no end"
    }
    guard let answer = gates.answers[task], state != .cancelled else { return ended(task, state) }
    let verb = answer.verb == .approve ? "approved" : "rejected"
    return "was \(verb) already, by \(answer.asker.text)"
  }

  private func ended(_ task: TaskID, _ state: TaskState) -> String {
    let verb =
      switch state {
      case .succeeded: "has succeeded"
      case .upToDate: "is up to date"
      case .failedAllowed: "has failed"
      case .failed: "has failed"
      case .skipped: "was skipped"
      case .cancelled: "was cancelled"
      case .waiting, .ready, .checking, .handed, .running, .suspended: "has no end"
      }
    let isOlder = graph.endedBefore?.contains(task) == true
    return (isOlder ? "\(verb) in an earlier drive" : "\(verb) already")
      + (state == .failedAllowed ? ", which is allowed" : "")
  }

  /// The first that took its end for a success, and is beyond waiting.
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

  /// What was skipped for want of tasks and waits again with them, where those are retried.
  private func comingBack(with tasks: [TaskID]) -> Set<TaskID> {
    let retried = Set(tasks.filter { graph.state($0) == .failed || graph.state($0) == .cancelled })
    var back: Set<TaskID> = []
    for task in graph.skippedForWant(of: Array(retried)) {
      let lacks = plan.needs(task).contains { edge in
        let need = TaskID(plan.needTargets[edge])
        let state = graph.state(need)
        let isUpstream = graph.has(.skippedUpstream, need)
        return state.isTerminal && !retried.contains(need) && !back.contains(need)
          && !state.meets(plan.needCondition(edge), skippedUpstream: isUpstream)
      }
      if !lacks { back.insert(task) }
    }
    return back
  }

  /// What is to be retried instead of a skipped task: the first that failed of what it lacks.
  private func needToRetry(of task: TaskID) -> TaskID? {
    var seen: Set<TaskID> = [task]
    var open = [task]
    while let task = open.popLast() {
      for edge in plan.needs(task) {
        let need = TaskID(plan.needTargets[edge])
        let isUpstream = graph.has(.skippedUpstream, need)
        let state = graph.state(need)
        if !state.isTerminal
          || state.meets(plan.needCondition(edge), skippedUpstream: isUpstream)
          || !seen.insert(need).inserted
        {
          continue
        }
        if !isUpstream { return need }
        open.append(need)
      }
    }
    return nil
  }

  private func faultOfRetry(
    _ task: TaskID, _ state: TaskState, among named: Set<TaskID>
  ) -> String? {
    if graph.endedBefore?.contains(task) == true {
      return "\(ended(task, state)); a resume with --rerun runs it again"
    }
    switch state {
    case .failed, .cancelled:
      let missing = plan.needs(task).contains { edge in
        let need = TaskID(plan.needTargets[edge])
        let needState = graph.state(need)
        return needState.isTerminal && !named.contains(need)
          && !needState.meets(
            plan.needCondition(edge), skippedUpstream: graph.has(.skippedUpstream, need))
      }
      return missing ? "lacks what it needs by now" : nil
    case .failedAllowed:
      guard let dependent = firstThatBuiltOn(task) else { return nil }
      let name = plan.nameString(dependent)
      return "has failed, which is allowed, and \(name) has gone on from that;"
        + " a resume with --rerun runs both again"
    case .skipped:
      guard graph.has(.skippedUpstream, task) else { return ended(task, state) }
      let culprit = needToRetry(of: task).map { plan.nameString($0) } ?? "what it needs"
      return "was skipped for want of \(culprit): retry that"
    case .succeeded, .upToDate: return ended(task, state)
    case .waiting, .ready, .checking, .handed:
      return graph.has(.ran, task) ? "waits for its next try already" : "has not run yet"
    case .running, .suspended:
      return gates.open[task] == nil
        ? "runs (try \(attempt[task.index]))" : "waits for an answer: approve or reject it"
    }
  }
}
