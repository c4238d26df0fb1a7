import OpflowEngine
import OpflowJournal
import OpflowPlan

extension Oracle {
  func fault(_ task: TaskID, _ text: String) -> Finding {
    Finding("\(plan.nameString(task)): \(text)")
  }

  func isApproval(_ task: TaskID) -> Bool { plan.kind(task) == .approve }

  /// Gates that ask, in their order.
  var askingGates: [TaskID] {
    plan.tasks.lazy.map { TaskID($0) }.filter { isApproval($0) && stand[$0.index] == .running }
  }

  /// Takes in a request's line.
  ///
  /// - Returns: what it does to tasks at once.
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

  /// Takes in what was requested of the drive before and holds in this one.
  mutating func take(_ standing: StandingRequests) {
    func waiting(_ tasks: [TaskID]) -> [TaskID] { tasks.filter { stand[$0.index] == .waiting } }
    isPaused = standing.isPaused
    onHold = Set(waiting(standing.onHold))
    cancelling = Set(waiting(standing.cancelled))
  }

  /// It ran in the drive before, which was lost after somebody had cancelled it.
  mutating func endCancelled(_ task: TaskID) {
    cancelling.remove(task)
    stand[task.index] = .over
  }

  /// The drive is stopped: the `finally` tasks that this is to lead to wait for nobody.
  mutating func endHolds() {
    isPaused = false
    onHold = onHold.filter { !plan.flags($0).contains(.finally) }
  }

  /// Takes in the line of a signal that ends the drive: one, of the stop that was asked for first.
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

  /// Somebody has it who will come to an end by himself.
  private func runs(_ task: TaskID) -> Bool {
    stand[task.index] == .running && !isService(task) && !isApproval(task)
  }

  /// A drive that a signal ended said so before.
  func checkStop(_ closing: CloseEntry) throws(Finding) {
    if closing.signal != 0, !isStopTold { throw Finding("a signal's stop was not told") }
  }

  /// A service that ended since nothing needed it is needed by what was added.
  private mutating func takeServiceBack(_ line: Transition) throws(Finding) {
    rankAll()
    if stand[line.task.index] == .over, ends[line.task] == nil, isService(line.task) {
      // It ended in an earlier drive.
      stand[line.task.index] = .waiting
      overBefore.remove(line.task)
    } else {
      try take(effect: line)
    }
  }

  /// For its `if`, or for want of what it needs.
  private func wasSkippedByItself(_ task: TaskID) -> Bool {
    switch ends[task]?.event {
    case .skip(.condition), .skip(.emptyMatrix), .skip(.upstream): true
    default: false
    }
  }

  /// A service that is needed again, or what was added and is to be withdrawn.
  mutating func takeBackSkipped(_ line: Transition) throws(Finding) {
    if isService(line.task), !wasSkippedByItself(line.task) {
      try takeServiceBack(line)
    } else {
      try takeBackAddition(line.task)
    }
  }

  /// What was added is taken out of its end, to be withdrawn.
  private mutating func takeBackAddition(_ task: TaskID) throws(Finding) {
    guard stand[task.index] == .over, wasSkippedByItself(task) else {
      throw fault(task, "it is taken back, and was not skipped by itself")
    }
    ends[task] = nil
    stand[task.index] = .waiting
  }

  /// In this drive.
  func hasBegun(_ task: TaskID) -> Bool { began.contains(task) || stand[task.index] == .running }

  /// Tasks that were added are to be skipped, by other names.
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
    // A service that had ended in an earlier drive, since nothing needed it any more.
    let wasOver = overBefore.remove(task) != nil
    guard stand[task.index] == .over, end != nil || still != nil || wasOver else {
      throw fault(task, "it is tried again and had no end in this drive")
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
