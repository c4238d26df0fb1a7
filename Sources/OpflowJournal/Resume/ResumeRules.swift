package import OpflowPlan

extension ResumeDecision {
  /// The usual case of a large run: a success is kept because its dependencies are. Requires a
  /// request without special tasks. If false, `verdict(for:)` decides.
  @inline(__always)
  func keepsPlainly(_ task: TaskID, _ input: Input) -> Bool {
    guard let start = input.history.startOfPlainSuccess(task),
      !input.plan.flags(task).contains(.readsValues)
    else { return false }
    for edge in input.plan.needs(task) {
      let need = TaskID(input.plan.needTargets[edge])
      guard case .keep = verdicts[need.index], input.history.settleSequence(need) <= start else {
        return false
      }
    }
    return true
  }

  func verdict(for task: TaskID, _ input: Input) -> Verdict {
    if input.request.reruns(task) { return .run(.asked) }
    let record = input.history[task]
    if input.request.keepsEnds, record.state.isTerminal, !record.isUnproven,
      !input.plan.isService(task) || record.state == .cancelled,
      !input.plan.flags(task).contains(.finally)
    {
      return .keep(record)
    }
    if let verdict = interruption(task, record, input) { return verdict }
    if input.plan.isService(task) { return service(task, record, input) }
    switch record.state {
    case .succeeded, .upToDate:
      return isChecked(task, input) ? .check : settled(task, record, input)
    case .failedAllowed:
      guard input.plan.allowsFailure(task, record.status, record.why?.endReason) else {
        return .run(.failedBefore)
      }
      return isChecked(task, input) ? .check : settled(task, record, input)
    case .failed: return .run(.failedBefore)
    case .skipped: return skipped(task, record, input)
    case .waiting, .ready, .checking: return .run(record.reasonToRun)
    case .cancelled: return .run(.cancelledBefore)
    case .prefetched, .running, .suspended: return .run(.interrupted)
    }
  }

  /// A service does not keep a result: it restarts, until its dependents are decided.
  private func service(_ task: TaskID, _ record: TaskRecord, _ input: Input) -> Verdict {
    switch record.state {
    case .failed: .run(.failedBefore)
    case .cancelled: .run(.cancelledBefore)
    case .waiting, .ready, .checking: .run(record.reasonToRun)
    case .prefetched, .running, .suspended: .run(.interrupted)
    case .skipped where record.why == .skipped(.request): .keep(record)
    case .skipped where willSkipByWish(task, input): .keep(record)
    case .skipped where record.why == .skipped(.unused) && input.request.stays(task): .run(.service)
    case .skipped where isForItself(task, input):
      record.why == .skipped(.unused) ? .keep(record) : skipped(task, record, input)
    case .succeeded, .upToDate, .failedAllowed, .skipped: .run(.service)
    }
  }

  /// The service is wanted for itself or for a dependent. Requires decided dependents.
  func isWanted(_ service: TaskID, _ input: Input) -> Bool {
    if input.request.stays(service), !input.request.skips(service) { return true }
    if isForItself(service, input) { return !input.history.state(service).isSuccess }
    return input.plan.dependents(service).contains { edge in
      let user = input.plan.dependent(edge)
      return switch verdicts[user.index] {
      case .run, .check, .later, .stay: true
      case .outside, .leave, .keep, .fail: false
      }
    }
  }

  private func isForItself(_ service: TaskID, _ input: Input) -> Bool {
    input.plan.dependents(service).isEmpty || input.request.names(service)
  }

  func mayStayUp(_ service: TaskID, _ input: Input) -> Bool {
    guard input.request.holds(service), input.history.state(service) == .running,
      !willSkipByWish(service, input)
    else { return false }
    return input.plan.needs(service).allSatisfy { edge in
      let need = TaskID(input.plan.needTargets[edge])
      if input.plan.isService(need) { return verdicts[need.index] == .stay }
      return switch verdicts[need.index] {
      case .run, .fail, .stay: false
      case .outside, .leave, .keep, .check, .later: true
      }
    }
  }

  /// The service stays for itself, for another service that stays, or for a task that starts.
  func isStaying(_ service: TaskID, _ input: Input) -> Bool {
    input.request.stays(service)
      || input.plan.dependents(service).contains { edge in
        switch verdicts[input.plan.dependent(edge).index] {
        case .stay, .run: true
        case .outside, .leave, .keep, .check, .later, .fail: false
        }
      }
  }

  /// nil if the task was not interrupted.
  @inline(__always)
  private func interruption(_ task: TaskID, _ record: TaskRecord, _ input: Input) -> Verdict? {
    let fails =
      input.plan.flags(task).contains(.failWhenInterrupted) && !willSkipByWish(task, input)
    if fails, record.isCutShort {
      return record.state == .failed ? .keep(.failed, nil) : .fail
    }
    return record.isInterrupted ? .run(.interrupted) : nil
  }

  @inline(__always)
  private func settled(_ task: TaskID, _ record: TaskRecord, _ input: Input) -> Verdict {
    if record.isChanged {
      return .run(.changed(record.changedPart))
    }
    let flags = input.plan.flags(task)
    let arguments = input.request.arguments.flatMap { $0.task == task ? $0.words : nil }
    if flags.contains(.readsValues) && !input.plan.lacksInstances(task) || arguments != nil,
      !input.history.values.isCurrent(task, input.plan, arguments: arguments ?? [])
    {
      return .run(.changed(.values))
    }
    if input.request.missesOutput(task), record.state != .failedAllowed {
      return .run(.outputMissing)
    }
    // A task that would be skipped gets its end before checks show whether its dependencies rerun.
    let isApart = input.plan.hasChecks && willSkipByWish(task, input)
    if !isApart, let culprit = needThatRuns(task, startedAt: record.decidedSequence, input) {
      return .run(.afterRerun(culprit))
    }
    if input.request.lacksInstances(task) { return .run(.inputs) }
    return waitsForChecks(task, input) ? .later(record.state, nil) : .keep(record)
  }

  /// Checks of dependencies decide whether the task keeps its result. A task that would be skipped
  /// keeps it in any case.
  private func waitsForChecks(_ task: TaskID, _ input: Input) -> Bool {
    input.plan.hasChecks && !willSkipByWish(task, input)
      && input.plan.needs(task).contains { edge in
        switch verdicts[Int(input.plan.needTargets[edge])] {
        case .check, .later: true
        case .outside, .leave, .keep, .run, .fail, .stay: false
        }
      }
  }

  /// A check of its files decides whether the task keeps its result.
  private func isChecked(_ task: TaskID, _ input: Input) -> Bool {
    input.plan.hasChecks && input.plan.isChecked(task) && !willSkipByWish(task, input)
      && !input.request.missesOutput(task)
  }

  /// Approvals granted just before the crash, without an end. They do not ask again if they are
  /// unchanged and no dependency reruns.
  package func approved(_ plan: Plan, _ history: RunModel, _ request: ResumeRequest) -> Set<TaskID>
  {
    let input = Input(plan: plan, history: history, request: request)
    var approved: Set<TaskID> = []
    for task in history.requests.tasks(.approve) {
      guard let answer = history.requests.of(task, .approve) else { continue }
      let record = history[task]
      guard verdicts[task.index] == .run(.interrupted), record.startSequence < answer.sequence,
        answer.fingerprint(of: task) == plan.fingerprint(task).whole,
        needThatRuns(task, startedAt: record.startSequence, input) == nil
      else { continue }
      approved.insert(task)
    }
    return approved
  }

  func leftOut(_ task: TaskID, _ input: Input) -> Verdict {
    let record = input.history[task]
    switch record.state {
    case .succeeded, .upToDate, .failedAllowed, .failed: return .leave(record.state, nil)
    case .skipped:
      let holds =
        record.isSkippedUpstream
        ? isCertainToLackNeeds(task, input)
        : record.why != .skipped(.skipOption) || !input.request.isSkippedOnce(task)
      return holds ? .leave(.skipped, record.why?.skipReason) : .leave(.waiting, nil)
    case .waiting, .ready, .checking, .prefetched, .running, .suspended, .cancelled:
      return .leave(.waiting, nil)
    }
  }

  private func skipped(_ task: TaskID, _ record: TaskRecord, _ input: Input) -> Verdict {
    if record.why == .skipped(.request) { return .keep(record) }
    if holdsLate(task, record, input) {
      return waitsForChecks(task, input) ? .later(.skipped, .condition) : .keep(record)
    }
    let holds =
      record.isSkippedUpstream
      ? isCertainToLackNeeds(task, input)
        && (!willSkipByWish(task, input) || meetsTheSameHoweverSkipped(task, input))
      : willSkipByWish(task, input)
    if holds { return .keep(record) }
    let mayHold =
      record.isSkippedUpstream && !willSkipByWish(task, input)
      && input.plan.hasChecks && isCertainToLackNeeds(task, input, ifChecksHold: true)
    return mayHold ? .later(.skipped, record.why?.skipReason) : .run(.skippedBefore)
  }

  /// Dependents do not depend on the reason of the skip, so a new reason does not make them rerun.
  private func meetsTheSameHoweverSkipped(_ task: TaskID, _ input: Input) -> Bool {
    input.plan.dependents(task).allSatisfy { input.plan.dependentCondition($0) == .finished }
  }

  /// The late `if` was false and still is: all dependencies keep their results.
  private func holdsLate(_ task: TaskID, _ record: TaskRecord, _ input: Input) -> Bool {
    guard record.why == .skipped(.condition), let condition = input.plan.lateCondition(task),
      needThatRuns(task, startedAt: record.settleSequence, input) == nil
    else { return false }
    let verdict = input.plan.verdict(of: task, condition) { need in
      input.history.state(need).holdsValues ? input.request.values[need]?.values ?? [] : nil
    }
    return verdict == .fails
  }

  func willSkipByWish(_ task: TaskID, _ input: Input) -> Bool {
    input.plan.flags(task).contains(.conditionFalse) || input.request.skips(task)
  }

  /// The first dependency that is not kept, or settled after the task had started.
  @inline(__always)
  private func needThatRuns(_ task: TaskID, startedAt start: UInt64, _ input: Input) -> TaskID? {
    for edge in input.plan.needs(task) {
      let need = TaskID(input.plan.needTargets[edge])
      if input.plan.hasServices, input.plan.isService(need) { continue }
      switch verdicts[need.index] {
      case .outside, .leave: continue
      case .keep, .check, .later:
        if input.history.settleSequence(need) > start { return need }
      case .run, .fail, .stay: return need
      }
    }
    return nil
  }

  /// True if certain ends already exclude the task. `ifChecksHold` assumes that all checked tasks
  /// keep their results.
  func isCertainToLackNeeds(_ task: TaskID, _ input: Input, ifChecksHold: Bool = false) -> Bool {
    func willBeSkipped(_ need: TaskID) -> Bool {
      ifChecksHold ? lacksNeedsThen[need.index] : lacksNeeds[need.index]
    }
    return input.plan.needs(task).contains { edge in
      let need = TaskID(input.plan.needTargets[edge])
      let condition = input.plan.needCondition(edge)
      switch verdicts[need.index] {
      case .outside, .leave(.waiting, _), .stay: return false
      case .check where willBeSkipped(need), .later where willBeSkipped(need):
        return !TaskState.skipped.meets(condition, skippedUpstream: true)
      case .check:
        return ifChecksHold
          && !input.history.state(need).meets(condition, skippedUpstream: false)
      case .later(let state, let reason):
        return ifChecksHold
          && !state.meets(condition, skippedUpstream: reason?.isUpstream ?? false)
      case .keep(let state, let reason), .leave(let state, let reason):
        return !state.meets(condition, skippedUpstream: reason?.isUpstream ?? false)
      case .fail: return !TaskState.failed.meets(condition, skippedUpstream: false)
      case .run:
        if willSkipByWish(need, input) {
          return !TaskState.skipped.meets(condition, skippedUpstream: false)
        }
        // A failed task can still be up to date with an earlier success.
        let mayHold = ifChecksHold && input.plan.isChecked(need) && !input.request.reruns(need)
        if mayHold, !TaskState.upToDate.meets(condition, skippedUpstream: false) { return true }
        return willBeSkipped(need)
          && !TaskState.skipped.meets(condition, skippedUpstream: true)
      }
    }
  }

  /// For verdict `run`, as far as known; false if checks decide.
  func starts(_ task: TaskID, _ input: Input) -> Bool {
    // A service starts only for its dependents.
    if input.plan.isService(task), !input.plan.dependents(task).isEmpty, !isWanted(task, input) {
      return false
    }
    return switch verdicts[task.index] {
    case .run:
      !(input.plan.hasChecks ? lacksNeedsThen : lacksNeeds)[task.index]
        && !willSkipByWish(task, input)
    case .outside, .leave, .keep, .check, .later, .fail, .stay: false
    }
  }

  /// True unless a check prevents the start. Skipped tasks are mostly skipped again; one that
  /// starts without its values fails, and the next resume repairs that.
  func mayStart(_ task: TaskID, _ input: Input) -> Bool {
    switch verdicts[task.index] {
    case .run: starts(task, input)
    case .check: true
    case .later(let state, _): state != .skipped && !willSkipByWish(task, input)
    case .outside, .leave, .keep, .fail, .stay: false
    }
  }

  /// The task keeps its success and the run has its values. A check provides values again.
  func keepsSuccess(_ task: TaskID) -> Bool {
    switch verdicts[task.index] {
    case .keep(let state, _), .later(let state, _): state.holdsValues
    case .outside, .leave, .check, .run, .fail, .stay: false
    }
  }

  /// True whatever checks find. False for tasks with a check (it may find a success from before a
  /// crash), with a late `if`, or with open ends of dependencies. A service for itself may be
  /// stopped before it starts.
  func startsForCertain(_ task: TaskID, _ input: Input) -> Bool {
    guard starts(task, input), input.plan.lateCondition(task) == nil else { return false }
    if input.plan.isService(task), isForItself(task, input) { return false }
    let isChecked =
      input.plan.hasChecks && input.plan.isChecked(task) && !input.request.reruns(task)
    return !isChecked && needsHaveEnded(task, input)
  }

  /// The ends of all dependencies are known, also those of services. Without late items, only
  /// checks leave an end open.
  private func needsHaveEnded(_ task: TaskID, _ input: Input) -> Bool {
    guard input.plan.hasLateItems else { return true }
    var seen: Set<TaskID> = []
    var open = [task]
    while let next = open.popLast() {
      for edge in input.plan.needs(next) {
        let need = TaskID(input.plan.needTargets[edge])
        switch verdicts[need.index] {
        case .outside, .leave, .keep, .fail, .stay: continue
        case .check, .later: return false
        case .run where willSkipByWish(need, input) || lacksNeeds[need.index]: continue
        case .run where input.plan.isService(need):
          if seen.insert(need).inserted { open.append(need) }
        case .run: return false
        }
      }
    }
    return true
  }

  func firstNeedThatStarts(_ task: TaskID, _ input: Input) -> TaskID? {
    input.plan.needs(task).lazy.map { TaskID(input.plan.needTargets[$0]) }.first {
      startsForCertain($0, input)
    }
  }

  func needsWhatMayStart(_ task: TaskID, _ input: Input) -> Bool {
    input.plan.needs(task).contains { edge in
      let need = TaskID(input.plan.needTargets[edge])
      return switch verdicts[need.index] {
      case .check, .later: true
      case .outside, .leave, .keep, .run, .fail, .stay: starts(need, input)
      }
    }
  }

  /// An earlier session ended without this `finally` task, or the user requests it.
  func isOwed(_ task: TaskID, _ input: Input) -> Bool {
    let record = input.history[task]
    if input.request.namesFinally(task), !record.state.isTerminal { return true }
    guard input.history.hasStarts else { return false }
    if input.request.reruns(task) { return true }
    let isOpen: Bool
    switch record.state {
    case .succeeded, .upToDate, .failedAllowed, .skipped: isOpen = false
    case .failed: isOpen = interruption(task, record, input) == nil
    case .waiting, .ready, .checking, .prefetched, .running, .suspended, .cancelled: isOpen = true
    }
    return isOpen && (!input.request.finallyFollowsNeeds || needRan(task, input))
  }

  private func needRan(_ task: TaskID, _ input: Input) -> Bool {
    input.plan.needs(task).contains {
      input.history[TaskID(input.plan.needTargets[$0])].startSequence > 0
    }
  }
}

extension TaskRecord {
  /// The line from which the dependencies counted: the start, or an earlier failure.
  fileprivate var decidedSequence: UInt64 {
    hasFailedUnstarted ? settleSequence : startSequence
  }

  fileprivate var isSkippedUpstream: Bool { why?.skipReason?.isUpstream ?? false }

  fileprivate var reasonToRun: RerunReason {
    switch why {
    case .rerun(let reason): reason
    case .ended(.interrupted): .interrupted
    case .ended(.revoked): .new
    // The task waits for a retry if an attempt has ended.
    case nil, .ended, .skipped: endedMilliseconds > 0 ? .failedBefore : .new
    }
  }
}
