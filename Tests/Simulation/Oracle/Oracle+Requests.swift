import OpflowEngine
import OpflowJournal
import OpflowPlan

extension Oracle {
  func fault(_ task: TaskID, _ text: String) -> Finding {
    Finding("\(plan.nameString(task)): \(text)")
  }

  func isApproval(_ task: TaskID) -> Bool { plan.kind(task) == .approve }

  /// Approvals that are waiting for an answer, in plan order.
  var openApprovals: [TaskID] {
    plan.tasks.lazy.map { TaskID($0) }.filter { isApproval($0) && stand[$0.index] == .running }
  }

  /// Applies a request's line and returns its immediate effects.
  mutating func take(_ request: RequestEntry) throws(Finding) -> [Transition] {
    var effects: [Transition] = []
    switch request.verb {
    case .pause: isPaused = true
    case .proceed where request.tasks.isEmpty: isPaused = false
    case .proceed: onHold.subtract(request.tasks)
    case .suspend: onHold.formUnion(request.tasks)
    case .priority:
      prioritise(
        request.tasks.map { TaskPriority(task: $0, priority: request.carried.priority) })
    case .parallel, .close: break
    case .cancel:
      if request.tasks.isEmpty { endHolds() }
      for task in request.tasks {
        onHold.remove(task)
        switch stand[task.index] {
        case .running: cancelling.insert(task)
        case .waiting: effects.append(Transition(.cancel, task, reason: .stopped(.cancel)))
        case .over: throw fault(task, "it is cancelled after its end")
        }
      }
    case .skip:
      for task in request.tasks {
        onHold.remove(task)
        if stand[task.index] != .waiting { throw fault(task, "skipped while it does not wait") }
        effects.append(Transition(.skip(.request), task))
      }
    case .approve, .reject:
      for task in request.tasks {
        guard isApproval(task), stand[task.index] == .running, answers[task] == nil else {
          throw fault(task, "it is answered and asks nothing")
        }
        if request.verb == .approve, request.fingerprints.count != request.tasks.count {
          throw fault(task, "it is not told what was approved")
        }
        answers[task] = request.verb
      }
    case .retry:
      if !passed.isEmpty { rankAll() }
      for task in request.tasks { effects.append(Transition(.resume(.asked), task)) }
      for task in request.back { effects.append(Transition(.resume(.skippedBefore), task)) }
    }
    for effect in effects { try take(effect: effect) }
    return effects
  }

  /// Applies the requests of the last session that still hold.
  mutating func take(_ standing: StandingRequests) {
    func waiting(_ tasks: [TaskID]) -> [TaskID] { tasks.filter { stand[$0.index] == .waiting } }
    isPaused = standing.isPaused
    onHold = Set(waiting(standing.onHold))
    cancelling = Set(waiting(standing.cancelled))
  }

  /// It ran in the last session, which was lost after the task's cancellation.
  mutating func endCancelled(_ task: TaskID) {
    cancelling.remove(task)
    stand[task.index] = .over
  }

  /// Ends pauses and holds when the session stops, except those of `finally` tasks.
  mutating func endHolds() {
    isPaused = false
    onHold = onHold.filter { !plan.flags($0).contains(.finally) }
  }

  /// Applies a stop by a signal; a session has at most one, that of the first request.
  mutating func take(_ stop: StopEntry, cause: StopCause?) throws(Finding) {
    if !stop.detail.isEmpty {
      let waiting = plan.tasks.filter { stand[$0] == .waiting && !isBoundHere(TaskID($0)) }
      try far.checkStop(wanting: waiting.map { plan.gpuCount(of: TaskID($0)) }.max() ?? 0)
      if let task = plan.tasks.first(where: { runs(TaskID($0)) }) {
        throw fault(TaskID(task), "the drive stops by itself while it runs")
      }
    }
    guard cause == .signal(stop.signal), !isStopTold else {
      throw Finding("a stop by signal \(stop.signal) is told, and nobody asked for it")
    }
    isStopTold = true
  }

  /// A worker or client runs the task, and it will end on its own.
  private func runs(_ task: TaskID) -> Bool {
    stand[task.index] == .running && !isService(task) && !isApproval(task)
  }

  /// Checks that a session which a signal ended has a line for that signal.
  func checkStop(_ closing: CloseEntry) throws(Finding) {
    if closing.signal != 0, !isStopTold { throw Finding("a signal's stop was not told") }
  }

  /// Makes an unused service that has ended pending again, for added tasks.
  private mutating func takeServiceBack(_ line: Transition) throws(Finding) {
    rankAll()
    if stand[line.task.index] == .over, ends[line.task] == nil, isService(line.task) {
      // It ended in an earlier session.
      stand[line.task.index] = .waiting
      overBefore.remove(line.task)
    } else {
      try take(effect: line)
    }
  }

  /// It was skipped for its `if`, an empty matrix or a dependency.
  private func wasSkippedByItself(_ task: TaskID) -> Bool {
    switch ends[task]?.event {
    case .skip(.condition), .skip(.emptyMatrix), .skip(.upstream): true
    default: false
    }
  }

  /// Makes a task pending again: a service that is needed again, or an added task to retract.
  mutating func takeBackSkipped(_ line: Transition) throws(Finding) {
    if isService(line.task), !wasSkippedByItself(line.task) {
      try takeServiceBack(line)
    } else {
      try takeBackAddition(line.task)
    }
  }

  /// Makes an added task pending again, to be retracted.
  private mutating func takeBackAddition(_ task: TaskID) throws(Finding) {
    guard stand[task.index] == .over, wasSkippedByItself(task) else {
      throw fault(task, "it is taken back, and was not skipped by itself")
    }
    ends[task] = nil
    stand[task.index] = .waiting
  }

  /// True if it began in this session.
  func hasBegun(_ task: TaskID) -> Bool { began.contains(task) || stand[task.index] == .running }

  /// Retracts added tasks; the new plan renames them.
  mutating func retract(_ tasks: [TaskID], _ renamed: Plan) throws(Finding) {
    for task in tasks where stand[task.index] != .waiting {
      throw fault(task, "withdrawn though it is \(stand[task.index])")
    }
    plan = renamed
  }

  private mutating func take(effect: Transition) throws(Finding) {
    let task = effect.task
    guard effect.event.kind == .resume else {
      stand[task.index] = .over
      ends[task] = effect
      return
    }
    let still = stillOver.removeValue(forKey: task)
    let end = ends.removeValue(forKey: task)
    // A service that ended in an earlier session because no task needed it.
    let wasOver = overBefore.remove(task) != nil
    guard stand[task.index] == .over, end != nil || still != nil || wasOver else {
      throw fault(task, "it is tried again and had no end in this session")
    }
    switch (effect.event, end?.event) {
    case (.resume(.asked), nil): if still == .stillUpstream { throw fault(task, "it is retried") }
    case (.resume(.skippedBefore), nil):
      if still != .stillUpstream, !wasOver {
        throw fault(task, "it comes back, and was not skipped")
      }
    case (.resume(.asked), .failure): if end?.allowed == false { failures -= 1 }
    case (.resume(.asked), .cancel), (.resume(.skippedBefore), .skip(.upstream)): break
    case (.resume(.skippedBefore), .success), (.resume(.skippedBefore), .skip(.unused)):
      if !isService(task) { throw fault(task, "it is started again, and is no service") }
    case (.resume(.asked), .fresh) where end?.kept == .failedAllowed: break
    case (.resume(.skippedBefore), .fresh) where end?.kept == .skipped: break
    case (_, let before): throw fault(task, "it is tried again after '\(before?.kind.word ?? "")'")
    }
    onHold.remove(task)
    outliving.remove(task)
    stand[task.index] = .waiting
    if effect.event == .resume(.asked) {
      retries[task.index] = 0
      losses[task.index] = 0
      sureLosses[task] = nil
      far.forget(task)
      mayStartAt[task.index] = Instant(nanoseconds: 0)
    }
  }
}
