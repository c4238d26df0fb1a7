import OpflowJournal
import OpflowPlan

/// Checks the recovered state and the decisions of a resume against the entries that were written.
struct ResumeCheck {
  let plan: Plan
  let history: RunModel
  let request: ResumeRequest
  let decision: ResumeDecision
  /// By name, from the entries that were written.
  let known: [String: KnownTask]
  /// Tasks without their outputs; `valuesLost` has tasks without their values.
  let outputMissing: TaskSet?
  let valuesLost: TaskSet?

  func check() throws(Finding) {
    for index in plan.topologicalOrder { try check(TaskID(index)) }
    let approved = decision.approved(plan, history, request)
    for index in plan.tasks { try checkApproval(TaskID(index), approved) }
  }

  /// Checks that an approval given right before the coordinator died holds if nothing changed
  /// since.
  private func checkApproval(_ task: TaskID, _ approved: Set<TaskID>) throws(Finding) {
    let known = known(task)
    let holds =
      known.approval == plan.fingerprint(task).whole && known.isCutShort
      && decision[task] == .run(.interrupted) && needThatRuns(task, known.start) == nil
    if approved.contains(task) != holds {
      throw fault(task, "its approval \(holds ? "is forgotten" : "holds though it must not")")
    }
  }

  private func known(_ task: TaskID) -> KnownTask {
    known[plan.nameString(task)] ?? KnownTask()
  }

  private func check(_ task: TaskID) throws(Finding) {
    let known = known(task)
    try checkRecord(task, known)
    if plan.isService(task) { return }
    guard request.selected?.contains(task) ?? true else {
      return try checkLeftOut(task, known)
    }
    // After a loss of power, an unproven end does not count.
    let record = history[task]
    if request.keepsEnds, record.state.isTerminal, !record.isUnproven, !isAsked(task),
      !plan.flags(task).contains(.finally)
    {
      guard decision[task] == .keep(record.state, record.why?.skipReason) else {
        throw fault(task, "it does not keep its end: \(decision[task])")
      }
      return
    }
    switch decision[task] {
    case .outside, .leave: throw fault(task, "it is not left out")
    case .stay: throw fault(task, "it is no service, and stays up")
    case .keep(let state, _): try checkKept(task, state, known)
    case .check:
      guard plan.isChecked(task), known.endedWell, !isAsked(task), !isWished(task) else {
        throw fault(task, "there is nothing to check")
      }
    case .later(let state, _):
      let isFinally = plan.flags(task).contains(.finally)
      if state != .skipped, !isFinally { try checkKept(task, state, known) }
      // A skip may depend on checks of other tasks.
      let isApart = isFinally || state == .skipped
      let isOpen = decision.checkCount > 0 || decision.startsAnything
      if isApart ? !isOpen : !awaitsCheck(task) {
        throw fault(task, "it waits for nothing that is to be checked")
      }
    case .fail:
      guard mustFail(task, known) else { throw fault(task, "it fails though nothing cut it short") }
    case .run:
      if mustFail(task, known) {
        throw fault(task, "it was cut short and must not run again: \(decision[task])")
      }
      try checkRuns(task, known)
    }
  }

  /// Checks that tasks outside the session keep their state; an unfinished one keeps the run
  /// unfinished.
  private func checkLeftOut(_ task: TaskID, _ known: KnownTask) throws(Finding) {
    guard request.scope?.contains(task) ?? true else {
      guard decision[task] == .outside else { throw fault(task, "it is no part of the run") }
      return
    }
    guard case .leave(let state, _) = decision[task] else {
      throw fault(task, "--only leaves it out")
    }
    let fits: Bool =
      switch known.end {
      case .success: state == .succeeded
      case .fresh: state == .upToDate
      case .failure: state == (known.isAllowed ? .failedAllowed : .failed)
      case .skip: state == .skipped || state == .waiting && known.isSkippedUpstream
      default: state == .waiting
      }
    if !fits { throw fault(task, "left out, it becomes \(state)") }
    guard known.end == .skip, known.isSkippedUpstream, state == .skipped else { return }
    // It counts as done only if the missing dependency stays missing.
    let isCertain = plan.needs(task).contains { edge in
      switch decision[TaskID(plan.needTargets[edge])] {
      // An unneeded service: its own missing dependency counts.
      case .keep(.skipped, .unused): true
      // An unneeded service without an end counts like a running task.
      case .keep(let need, _) where !need.isTerminal: true
      case .keep(let need, let reason), .leave(let need, let reason):
        need.isTerminal
          && !need.meets(plan.needCondition(edge), skippedUpstream: reason?.isUpstream ?? false)
      case .outside, .run, .fail: true
      case .stay: false
      case .check, .later: false
      }
    }
    if !isCertain {
      let needs = plan.needs(task).map { TaskID(plan.needTargets[$0]) }
      throw fault(
        task, "it is left as done though its needs may be met now: \(needs.map { decision[$0] })")
    }
  }

  /// Checks that recovery yields exactly the entries that were written.
  private func checkRecord(_ task: TaskID, _ known: KnownTask) throws(Finding) {
    let record = history[task]
    let state: TaskState =
      switch known.end {
      case .success: .succeeded
      case .fresh: .upToDate
      case .failure: known.isAllowed ? .failedAllowed : .failed
      case .skip: .skipped
      default: .waiting
      }
    // States before the end differ only in detail.
    guard record.state == state || known.end == nil && !isEnd(record.state) else {
      throw fault(task, "recovered as \(record.state), written as \(state)")
    }
    if known.end != nil, record.settleSequence != known.settle || !isSame(record.why, known.why) {
      throw fault(task, "recovered with another end than was written")
    }
    if record.attempts != known.attempts {
      throw fault(task, "recovered with \(record.attempts) tries of \(known.attempts)")
    }
    if record.isInterrupted != known.isCutShort {
      throw fault(task, "recovered as \(known.isCutShort ? "not " : "")cut short")
    }
  }

  /// Ignores the task in a reason, since its number may differ between plans.
  private func isSame(_ one: Why?, _ other: Why?) -> Bool {
    one?.word.description == other?.word.description
  }

  private func isEnd(_ state: TaskState) -> Bool {
    switch state {
    case .succeeded, .upToDate, .failedAllowed, .failed, .skipped: true
    case .waiting, .ready, .checking, .prefetched, .running, .suspended, .cancelled: false
    }
  }

  private func isWished(_ task: TaskID) -> Bool {
    plan.flags(task).contains(.conditionFalse) || request.skip?.contains(task) ?? false
  }

  private func isAsked(_ task: TaskID) -> Bool { request.rerun?.contains(task) ?? false }

  private func mustFail(_ task: TaskID, _ known: KnownTask) -> Bool {
    plan.flags(task).contains(.failWhenInterrupted) && known.wasCutShort && !isAsked(task)
      && !isWished(task)
  }

  private func checkKept(
    _ task: TaskID, _ state: TaskState, _ known: KnownTask
  ) throws(Finding) {
    let isFinally = plan.flags(task).contains(.finally)
    if isAsked(task), !isFinally { throw fault(task, "it was asked for and is kept") }
    if isFinally, state != .failed {
      if decision.startsAnything, !request.finallyFollowsNeeds {
        throw fault(task, "a `finally` task is kept")
      }
      return
    }
    switch known.end {
    case .success, .failure, .fresh:
      if !known.endedWell { return try checkKeptFailure(task, known) }
      if let reason = reasonToRun(task, known, isCertain: true) {
        throw fault(task, "kept though \(reason)")
      }
    case .skip where known.why == .skipped(.request): return
    case .skip:
      if known.why == .skipped(.condition), plan.lateCondition(task) != nil, !isWished(task) {
        if let reason = needThatRuns(task, known.settle) {
          throw fault(task, "kept as skipped though \(reason)")
        }
        return
      }
      // It is skipped either way, and no dependent distinguishes the reasons.
      let isAlike = plan.dependents(task).allSatisfy { plan.dependentCondition($0) == .finished }
      guard isWished(task) == !known.isSkippedUpstream || isWished(task) && isAlike else {
        throw fault(task, "it is kept as skipped though the reason is gone")
      }
    default: throw fault(task, "it never ended and is kept")
    }
  }

  private func checkKeptFailure(_ task: TaskID, _ known: KnownTask) throws(Finding) {
    if plan.flags(task).contains(.finally),
      !decision.startsAnything || request.finallyFollowsNeeds
    {
      return
    }
    guard plan.flags(task).contains(.failWhenInterrupted), !isWished(task),
      known.why == .ended(.interrupted) || known.why == .ended(.workerLost)
    else { throw fault(task, "it failed and is kept") }
  }

  private func checkRuns(_ task: TaskID, _ known: KnownTask) throws(Finding) {
    if known.end == .skip, known.why == .skipped(.request), !isAsked(task),
      !plan.flags(task).contains(.finally)
    {
      throw fault(task, "it was to be skipped and runs")
    }
    guard known.endedWell, !isAsked(task) else { return }
    if plan.flags(task).contains(.finally), decision.startsAnything { return }
    if reasonToRun(task, known, isCertain: false) == nil {
      throw fault(task, "a proven success runs again, told as \(decision[task])")
    }
  }

  /// Returns why a task that ended well has to run again, or nil.
  ///
  /// - Parameter isCertain: whether it must run; else it may run.
  private func reasonToRun(_ task: TaskID, _ known: KnownTask, isCertain: Bool) -> String? {
    if known.fingerprint != plan.fingerprint(task).whole { return "its definition changed" }
    if plan.flags(task).contains(.readsValues), known.with != valuesRead(by: task) {
      return "it read other values"
    }
    let hasSucceeded = known.end == .success || known.end == .fresh
    if hasSucceeded, outputMissing?.contains(task) ?? false {
      return "its output is missing"
    }
    if let reader = readerThatLacks(task, known, isCertain: isCertain) {
      return "\(plan.nameString(reader)) runs and reads its values, which are not there"
    }
    if known.end == .failure, !plan.allowsFailure(task, known.status, known.why?.endReason) {
      return "its failure is not allowed any more"
    }
    // Checks run after a skipped task has ended.
    return plan.hasChecks && isWished(task) ? nil : needThatRuns(task, known.start)
  }

  private func awaitsCheck(_ task: TaskID) -> Bool {
    plan.needs(task).contains { edge in
      switch decision[TaskID(plan.needTargets[edge])] {
      case .check, .later: true
      case .outside, .leave, .keep, .run, .fail, .stay: false
      }
    }
  }

  private func valuesRead(by task: TaskID) -> UInt64 {
    plan.valueDigest(of: task) { need in known(need).left ?? [] }
  }

  /// Returns a task that runs and reads values of this one that were lost or never kept.
  private func readerThatLacks(
    _ task: TaskID, _ known: KnownTask, isCertain: Bool
  ) -> TaskID? {
    // A check supplies its values.
    if plan.isChecked(task) { return nil }
    guard known.end == .success || known.end == .fresh, !isWished(task),
      known.left.map({ !$0.isEmpty && valuesLost?.contains(task) ?? false }) ?? true
    else { return nil }
    return plan.dependents(task).lazy.map { plan.dependent($0) }.first { reader in
      guard plan.valueSources(of: reader).contains(task), !isWished(reader) else { return false }
      return switch decision[reader] {
      case .run: !isCertain || isCertainToStart(reader)
      case .check, .later: !isCertain
      case .outside, .leave, .keep, .fail, .stay: false
      }
    }
  }

  private func isCertainToStart(_ task: TaskID) -> Bool {
    // A service's start depends on its users.
    if plan.isService(task) { return false }
    return plan.needs(task).allSatisfy { edge in
      guard case .keep(let state, let reason) = decision[TaskID(plan.needTargets[edge])] else {
        return false
      }
      return state.meets(
        plan.needCondition(edge), skippedUpstream: reason?.isUpstream ?? false)
    }
  }

  private func needThatRuns(_ task: TaskID, _ start: UInt64) -> String? {
    for edge in plan.needs(task) {
      let need = TaskID(plan.needTargets[edge])
      if plan.isService(need) { continue }
      switch decision[need] {
      case .outside, .leave, .stay: continue
      case .run, .fail: return "\(plan.nameString(need)) runs again"
      case .keep, .check, .later:
        if self.known(need).settle > start {
          return "\(plan.nameString(need)) ended after it had started"
        }
      }
    }
    return nil
  }

  private func fault(_ task: TaskID, _ text: String) -> Finding {
    Finding("resume: \(plan.nameString(task)): \(text)")
  }
}
