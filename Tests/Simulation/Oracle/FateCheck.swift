import OpflowBase
import OpflowEngine
import OpflowJournal
import OpflowPlan

/// Checks the ends of a session's tasks against the reference's rules for dependencies and
/// policies.
struct FateCheck {
  let session: SimulatedSession
  let plan: Plan
  private let firstLine: [Transition?]
  private let lastLine: [Transition?]
  /// The indices of the last line and of the first start among all lines.
  private let lastPlace: [Int]
  private let firstStart: [Int]
  private let started: [Bool]
  /// The number of attempts that began and were not revoked.
  private let tries: [Int]
  private let hasFinallyPhase: Bool
  let isHalted: Bool
  private var mustNotBeHeldBack: Set<TaskID> = []
  /// Tasks that a request made pending again, and the index of the last such line.
  let retried: Set<TaskID>
  private let lastRetry: [Int]
  /// The index of the first unrevoked start since then; negative if there was not one.
  private let begun: [Int]

  init(_ session: SimulatedSession) {
    self.session = session
    plan = session.plan
    var first = [Transition?](repeating: nil, count: plan.taskCount)
    var last = first
    var started = [Bool](repeating: false, count: plan.taskCount)
    var tries = [Int](repeating: 0, count: plan.taskCount)
    var retried: Set<TaskID> = []
    var places = [Int](repeating: -1, count: plan.taskCount)
    var starts = places
    var retries = places
    var begun = places
    for (place, line) in session.lines.enumerated() where !line.transition.task.isNone {
      let index = line.transition.task.index
      places[index] = place
      if first[index] == nil { first[index] = line.transition }
      last[index] = line.transition
      if line.transition.event.kind == .resume, !line.transition.isLate {
        retried.insert(line.transition.task)
        retries[index] = place
        begun[index] = -1
      }
      if line.transition.event == .start {
        if begun[index] < 0 { begun[index] = place }
        if !started[index] { starts[index] = place }
        started[index] = true
        tries[index] += 1
      }
      if line.transition.outcome.reason == .revoked {
        tries[index] -= 1
        begun[index] = -1
      }
    }
    firstLine = first
    lastLine = last
    lastPlace = places
    firstStart = starts
    self.started = started
    self.tries = tries
    self.retried = retried
    lastRetry = retries
    self.begun = begun
    hasFinallyPhase =
      (session.owesFinally || started.contains(true)) && !session.wasKilled
      && session.stopCause != .ioError
    isHalted =
      session.options.maxFailures > 0 && session.oracle.failures >= session.options.maxFailures
    mustNotBeHeldBack = exempt { !session.engine.state($0).isTerminal }
  }

  /// A `finally` task started, or was skipped for a task that never ran, before an error or a kill
  /// could interrupt the phase.
  private var beganFinally: Bool {
    plan.tasks.contains { index in
      guard plan.flags(TaskID(index)).contains(.finally) else { return false }
      if started[index] || lastLine[index]?.event == .failure { return true }
      guard case .skip(.upstream(let need)) = lastLine[index]?.event, !need.isNone else {
        return false
      }
      return !session.engine.state(need).isTerminal
    }
  }

  func check(_ closing: CloseEntry) throws(Finding) {
    for index in plan.tasks { try check(TaskID(index)) }
    try checkFinallyComesLast()
    try checkHalt()
    let expected: Int32 =
      session.hasJournalFailed ? 74 : exitCode
    if closing.exitCode != expected {
      throw Finding("the run ended with \(closing.exitCode) instead of \(expected)")
    }
    if closing.state != state { throw Finding("the run ended as \(closing.state), not \(state)") }
  }

  /// Tasks left out and tasks that stay failed count like those of the session.
  private var state: RunState {
    if session.hasJournalFailed { return .interrupted }
    return switch session.stopCause {
    case .signal, .ioError: .interrupted
    case .request: .cancelled
    case nil:
      hasFailures
        ? .failed
        : isCancelled
          ? .cancelled
          : session.initial.contains(where: isOpen) ? .interrupted : .succeeded
    }
  }

  private var hasFailures: Bool {
    session.oracle.failures > 0
      || session.initial.enumerated().contains { (index, initial) in
        initial == .failed || initial == .leftFailed
          || initial == .stillFailed && firstLine[index] == nil
      }
  }

  private func isOpen(_ state: InitialState) -> Bool { state == .leftOpen }

  private var exitCode: Int32 {
    switch session.stopCause {
    case .signal(let signal): 128 + signal
    case .request: 6
    case .ioError: 74
    case nil: hasFailures ? 1 : isCancelled ? 6 : 0
    }
  }

  private var isCancelled: Bool { session.states.contains(.cancelled) }

  private func check(_ task: TaskID) throws(Finding) {
    let state = session.engine.state(task)
    if lastLine[task.index]?.event == .skip(.retracted) {
      if state != .skipped || started[task.index] { throw fault(task, "it was withdrawn") }
      return
    }
    if plan.isService(task) { return try checkService(task, state) }
    switch session.initial[task.index] {
    case .excluded, .succeeded, .upToDate, .failedAllowed, .skipped, .unused, .skippedUpstream,
      .failed, .leftDone, .leftFailed, .leftUpstream, .leftOpen:
      if firstLine[task.index] != nil { throw fault(task, "it was to be left alone") }
      return
    case .stillFailed, .stillCancelled, .stillUpstream:
      if firstLine[task.index] == nil { return }
      guard retried.contains(task) else { throw fault(task, "nobody asked for it again") }
      try checkRun(task, state)
    case .interrupted where retried.contains(task): try checkRun(task, state)
    // It was being cancelled when the last session was lost, and stays cancelled.
    case .interrupted where isCancelledBefore(task), .skipOption where isCancelledBefore(task),
      .skipOnce where isCancelledBefore(task):
      try checkStaysCancelled(task, state)
    case .interrupted:
      guard state == .failed, !started[task.index], lastLine[task.index]?.event == .failure else {
        throw fault(task, "it was cut short and is not to run again")
      }
      return
    case .skipOption, .skipOnce: try checkSkip(task, [.skipOption, .condition])
    case .run, .afterNeeds, .recheck, .later, .laterAfterNeeds, .stays:
      if !plan.flags(task).contains(.conditionFalse) {
        try checkRun(task, state)
      } else if isCancelledBefore(task), !retried.contains(task) {
        try checkStaysCancelled(task, state)
      } else {
        try checkSkip(task, [.condition])
      }
    }
  }

  /// Checks the final state of a service: succeeded if it was used, skipped if not.
  private func checkService(_ task: TaskID, _ state: TaskState) throws(Finding) {
    if firstLine[task.index] == nil { return }
    switch state {
    case .running, .suspended, .prefetched, .checking: throw fault(task, "it is left \(state)")
    case .succeeded, .failed, .cancelled: try checkEnded(task, state)
    case .skipped:
      if lastLine[task.index]?.event == .fresh { return }
      guard case .skip(let reason) = lastLine[task.index]?.event else {
        throw fault(task, "it is skipped after another line")
      }
      let users = plan.dependents(task).map { plan.dependent($0) }
      if reason == .unused, users.contains(where: { !session.engine.state($0).isTerminal }) {
        throw fault(task, "it is unused, and something may need it")
      }
    case .waiting, .ready, .upToDate, .failedAllowed:
      let users = plan.dependents(task).map { plan.dependent($0) }
      let open = users.filter { !session.engine.state($0).isTerminal }
      // A request made it pending again for tasks that never got their turn.
      let isForLast =
        lastLine[task.index]?.event.kind == .resume && !hasFinallyPhase
        && open.allSatisfy { plan.flags($0).contains(.finally) }
      guard users.isEmpty || !open.isEmpty || session.stoodAlone.contains(task),
        session.stopCause != nil || isHalted || session.wasKilled || isForLast
      else {
        throw fault(task, "it is left \(state)")
      }
    }
  }

  private func isCancelledBefore(_ task: TaskID) -> Bool {
    session.resumeState.standing.cancelled.contains(task)
  }

  private func checkStaysCancelled(_ task: TaskID, _ state: TaskState) throws(Finding) {
    guard state == .cancelled, !started[task.index] else {
      throw fault(task, "it was cancelled and is not")
    }
  }

  private func checkSkip(_ task: TaskID, _ reasons: [SkipReason]) throws(Finding) {
    guard session.engine.state(task) == .skipped, !started[task.index],
      case .skip(let reason) = lastLine[task.index]?.event, reasons.contains(reason)
    else { throw fault(task, "it should have been skipped") }
  }

  /// True if a dependency ran in this session. Prefetched and revoked attempts do not count, nor
  /// does a service that started for other tasks after this task's end.
  private func mayFollow(_ task: TaskID) -> Bool {
    let needs = plan.needs(task).map { TaskID(plan.needTargets[$0]) }
    return needs.isEmpty
      || needs.contains {
        tries[$0.index] > 0
          && !(plan.isService($0) && firstStart[$0.index] > lastPlace[task.index]
            && session.engine.state(task) == .skipped)
      }
  }

  private func hasBegun(_ task: TaskID) -> Bool { begun[task.index] >= 0 }

  /// True if it began, or ended other than by a skip for a dependency, before a request made a
  /// dependency pending again.
  private func isOfEarlierNeeds(_ task: TaskID, _ state: TaskState) -> Bool {
    let place = hasBegun(task) ? begun[task.index] : lastPlace[task.index]
    return (hasBegun(task) || state.isTerminal && !isSkippedForNeeds(task))
      && plan.needs(task).contains { lastRetry[Int(plan.needTargets[$0])] > place }
  }

  /// The main phase ended while a dependency was open, and a request skipped that dependency later.
  private func isSkippedForWhatWasSkippedSince(_ task: TaskID) -> Bool {
    guard plan.flags(task).contains(.finally), !started[task.index],
      case .skip(.upstream(let culprit)) = lastLine[task.index]?.event, !culprit.isNone
    else { return false }
    return lastLine[culprit.index]?.event == .skip(.request)
      && lastPlace[culprit.index] > lastPlace[task.index]
  }

  private enum Need { case met, open, unmeetable }

  private func checkRun(_ task: TaskID, _ state: TaskState) throws(Finding) {
    if lastLine[task.index]?.event == .skip(.request) {
      if state != .skipped { throw fault(task, "it was skipped by a request and is \(state)") }
      return
    }
    if state == .cancelled { return try checkEnded(task, state) }
    if state == .skipped, isSkippedForWhatWasSkippedSince(task) { return }
    if isOfEarlierNeeds(task, state) {
      if state.isTerminal { try checkEnded(task, state) }
      return
    }
    if plan.flags(task).contains(.finally), !hasFinallyPhase {
      // It had no turn, or a kill interrupted the phase.
      if state.isTerminal, state != .skipped { try checkEnded(task, state) }
      return
    }
    if session.initial[task.index] == .laterAfterNeeds, !mayFollow(task) {
      if started[task.index] { throw fault(task, "none of its needs ran and it is \(state)") }
      return
    }
    if session.initial[task.index] == .afterNeeds, !mayFollow(task) {
      guard state == .skipped, !started[task.index] else {
        throw fault(task, "none of its needs ran and it is \(state)")
      }
      return
    }
    // The ends of the services decide whether it may start.
    let hasOpenService = plan.services(neededBy: task).contains {
      !session.engine.state($0).isTerminal
    }
    if hasOpenService {
      if state.isTerminal { return try checkEnded(task, state) }
      if !mayBeLeft(task) { throw fault(task, "it was left \(state) with a service") }
      return
    }
    var open = false
    var lacking: Set<TaskID> = []
    for edge in plan.needs(task) {
      let target = TaskID(plan.needTargets[edge])
      switch need(edge, of: task) {
      // A service that could not start any more; it ended when its last dependent had ended.
      case .met
      where lastLine[target.index]?.event == .skip(.unused)
        && lastLine[task.index]?.event == .skip(.upstream(target)):
        lacking.insert(target)
      case .met: break
      case .open: open = true
      case .unmeetable: lacking.insert(target)
      }
    }
    if !lacking.isEmpty {
      let line = lastLine[task.index]
      if line?.event == .fresh, line?.kept == .skipped, state == .skipped { return }
      // A later task ended the service after the main phase.
      if !state.isTerminal, hasFinallyPhase || beganFinally, !plan.flags(task).contains(.finally),
        lacking.allSatisfy({ plan.isService($0) }), mayBeLeft(task)
      {
        return
      }
      // It may keep its result without the service, which depends on an open task.
      if !state.isTerminal, open, session.initial[task.index] == .later,
        firstLine[task.index] == nil, lacking.allSatisfy({ plan.isService($0) })
      {
        return
      }
      // It ended before the service did.
      let isDecided = line?.event == .skip(.condition)
      if state.isTerminal, state != .skipped || isDecided,
        lacking.allSatisfy({ plan.isService($0) })
      {
        return try checkEnded(task, state)
      }
      // It failed because no worker was available, before its dependency was retried.
      if state == .failed, line?.outcome.reason == .workerLost,
        lacking.allSatisfy({ retried.contains($0) })
      {
        return try checkEnded(task, state)
      }
      guard state == .skipped, !hasBegun(task),
        case .skip(.upstream(let culprit)) = line?.event,
        lacking.contains(culprit) || retried.contains(culprit)
      else { throw fault(task, "it lacks a need and is \(state)") }
    } else if open {
      // It ended before the service did.
      if state.isTerminal, !plan.services(neededBy: task).isEmpty {
        return try checkEnded(task, state)
      }
      // It lacked only services and was ready before these were interrupted.
      let wasReady = state == .ready && !plan.services(neededBy: task).isEmpty
      guard state == .waiting || wasReady, !hasBegun(task) || wasReady else {
        throw fault(task, "a need has not ended and it is \(state)")
      }
    } else if lastLine[task.index]?.event == .fresh {
      try checkEnded(task, state)
    } else if let verdict = verdict(task), verdict != .holds {
      try checkDecided(task, state, verdict)
    } else if state.isTerminal {
      try checkEnded(task, state)
    } else if !mayBeLeft(task) {
      throw fault(task, "all that it needs is there, and it was left \(state)")
    }
  }

  /// Returns the verdict of a late `if` for the current dependencies; nil if there is no late `if`.
  private func verdict(_ task: TaskID) -> LateVerdict? {
    guard let name = session.tasks[task.index].decidedBy, let need = plan.task(named: name) else {
      return nil
    }
    if !session.engine.state(need).holdsValues, plan.readsAsEmpty(need) { return .fails }
    guard session.engine.state(need).holdsValues, let value = session.held[need]?.values.first
    else {
      return .undecided("")
    }
    return value.hash == Hash.xxh3(Array("true".utf8)) ? .holds : .fails
  }

  private func checkDecided(
    _ task: TaskID, _ state: TaskState, _ verdict: LateVerdict
  ) throws(Finding) {
    // A request after the main phase cannot decide an `if` of that phase.
    if state == .ready, beganFinally, !plan.flags(task).contains(.finally), mayBeLeft(task) {
      return
    }
    guard !hasBegun(task), let line = lastLine[task.index] else {
      throw fault(task, "its `if` does not hold and it is \(state)")
    }
    let isRight =
      verdict == .fails
      ? state == .skipped && line.event == .skip(.condition)
      : line.event == .failure && line.outcome.reason == .value
        && state == (line.allowed ? .failedAllowed : .failed)
    if !isRight { throw fault(task, "its `if` does not hold and it is \(state)") }
  }

  private func need(_ edge: Int, of task: TaskID) -> Need {
    let need = TaskID(plan.needTargets[edge])
    let state = session.engine.state(need)
    let condition = plan.needCondition(edge)
    // The task had the service when it started.
    if plan.isService(need), started[task.index] { return .met }
    // Dependents of an interrupted task are left to the resume, like the task.
    if session.cutShort.contains(need), state == .cancelled, !plan.flags(task).contains(.finally) {
      return .open
    }
    if !state.isTerminal {
      guard plan.flags(task).contains(.finally) else { return .open }
      if plan.flags(need).contains(.finally) { return .open }
      return condition == .finished ? .met : .unmeetable
    }
    let isMet: Bool =
      switch condition {
      case .finished: true
      case .failure: state == .failed
      case .success:
        switch state {
        case .succeeded, .upToDate, .failedAllowed: true
        case .skipped: !isSkippedForNeeds(need)
        default: false
        }
      case .ran: [.succeeded, .upToDate, .failedAllowed].contains(state)
      }
    return isMet ? .met : .unmeetable
  }

  private func isSkippedForNeeds(_ task: TaskID) -> Bool {
    switch session.initial[task.index] {
    case .skippedUpstream, .leftUpstream: return true
    case .stillUpstream where firstLine[task.index] == nil: return true
    default: break
    }
    if lastLine[task.index]?.event == .fresh {
      return session.results[task]?.isSkippedUpstream == true
    }
    return if case .skip(.upstream) = lastLine[task.index]?.event { true } else { false }
  }

  private func checkEnded(_ task: TaskID, _ state: TaskState) throws(Finding) {
    guard let line = lastLine[task.index] else { throw fault(task, "it ended without a line") }
    if line.event == .fresh {
      if state != line.kept ?? .upToDate { throw fault(task, "it is \(state), and up to date") }
      return
    }
    let fits: Bool =
      switch state {
      case .succeeded: line.event == .success
      case .failedAllowed: line.event == .failure && line.allowed
      case .failed: line.event == .failure && !line.allowed
      case .cancelled: line.event == .cancel
      case .skipped: line.event.kind == .skip
      default: false
      }
    if !fits { throw fault(task, "it is \(state) after '\(line.event.kind.word)'") }
    if state == .failed, line.outcome.reason != .value, !started[task.index],
      session.initial[task.index] != .stays, session.lostWorkers < 3,
      line.outcome.reason != .refused
    {
      throw fault(task, "it failed without a try")
    }
    if line.event == .failure { try checkGaveUp(task, line) }
  }

  /// Checks that a failure is final only if the policy allows no further attempt.
  private func checkGaveUp(_ task: TaskID, _ line: Transition) throws(Finding) {
    switch line.outcome.reason {
    case .workerLost, .output, .fetchFinal, .value: return
    case .refused where line.attempt == 0: return
    case .stopped(.serviceLost) where isServiceLost(of: task): return
    default: break
    }
    if line.leavesAlive { return }
    let policy = plan.policy(task)
    let before = Int(session.resumeState.triesUsed[task]?.count ?? 0)
    let retries = session.lines.reduce(before) { count, line in
      guard line.transition.task == task else { return count }
      switch line.transition.event {
      case .retry: return count + 1
      case .resume(.asked): return 0
      default: return count
      }
    }
    if retries >= Int(policy.retryMax) || mayBeLeft(task) || isHalted { return }
    // It cannot be retried without a service that it needs.
    if isServiceLost(of: task) { return }
    let codes = plan.codeList(policy.retryCodes)
    if !codes.isEmpty, line.outcome.reason != .stopped(.serviceLost) {
      guard line.outcome.reason == nil, case .exit(let code) = line.outcome.status,
        codes.contains(code)
      else { return }
    }
    throw fault(task, "it had tries left")
  }

  /// True if a needed service ended such that none of its users can start, or was retried since.
  private func isServiceLost(of task: TaskID) -> Bool {
    plan.services(neededBy: task).contains { service in
      [.failed, .cancelled, .skipped].contains(session.engine.state(service))
        || retried.contains(service)
    }
  }

  /// True if the end of the run excuses a startable task that did not start.
  private func mayBeLeft(_ task: TaskID) -> Bool {
    if plan.flags(task).contains(.finally) { return !hasFinallyPhase }
    if session.stopCause != nil { return true }
    return isHalted && !mustNotBeHeldBack.contains(task)
  }

  func fault(_ task: TaskID, _ text: String) -> Finding {
    Finding("\(plan.nameString(task)): \(text)")
  }
}
