import OpflowEngine
import OpflowJournal
import OpflowPlan

/// How each task of an undisturbed drive ends, worked out from the manifest alone: needs first, one
/// task after the other, with no scheduler.
struct ExpectedEnds {
  private(set) var states: [TaskState]
  private var isSkippedForNeeds: [Bool]
  private var anyStarts: Bool
  /// Tasks that keep the result of an earlier drive, and the numbers of successes that hold.
  private var isKept: [Bool]
  private var origins: [TaskID: UInt64]
  private var hasRun: Set<TaskID> = []
  /// Of these, the ones that have a process.
  private var begun: Set<TaskID> = []
  private var isOfRecord: Set<TaskID> = []
  private let records: SimulatedRecords
  /// Services that nothing needed as they came.
  private let standing: Set<TaskID>

  init(
    _ plan: Plan, _ tasks: [SimulatedManifest.Task], _ entry: SimulatedSession.Entry,
    _ records: SimulatedRecords,
    standing: Set<TaskID>
  ) {
    self.standing = standing
    isKept = entry.initial.map(\.endsBefore)
    origins = entry.origins
    self.records = records
    states = [TaskState](repeating: .waiting, count: plan.taskCount)
    isSkippedForNeeds = [Bool](repeating: false, count: plan.taskCount)
    anyStarts = entry.owesFinally
    defer { useServices(plan, entry) }
    for isFinally in [false, true] {
      for index in plan.topologicalOrder
      where plan.flags(TaskID(index)).contains(.finally) == isFinally {
        decide(TaskID(index), plan, tasks, entry)
      }
    }
  }

  /// Services that nothing used that ran were skipped.
  private mutating func useServices(_ plan: Plan, _ entry: SimulatedSession.Entry) {
    for index in plan.topologicalOrder.reversed() {
      let task = TaskID(index)
      guard plan.isService(task), begun.contains(task), !standing.contains(task) else { continue }
      let users = plan.dependents(task).map { plan.dependent($0) }
      // `finally` tasks whose turn does not come, and what only they need.
      let isLeft = users.contains { [.waiting, .ready].contains(states[$0.index]) }
      if isLeft, !users.contains(where: { begun.contains($0) }) {
        states[task.index] = .ready
        begun.remove(task)
      } else if states[task.index] == .succeeded, !users.isEmpty,
        // What was up has an end of its own, whether anything came to use it or not.
        entry.initial[task.index] != .stays, !users.contains(where: { begun.contains($0) })
      {
        states[task.index] = .skipped
        begun.remove(task)
      }
    }
  }

  private mutating func decide(
    _ task: TaskID, _ plan: Plan, _ tasks: [SimulatedManifest.Task], _ entry: SimulatedSession.Entry
  ) {
    let index = task.index
    switch entry.initial[index] {
    case .succeeded, .leftDone: states[index] = .succeeded
    case .upToDate: states[index] = .upToDate
    case .failedAllowed: states[index] = .failedAllowed
    case .failed, .leftFailed, .stillFailed: states[index] = .failed
    case .stillCancelled: states[index] = .cancelled
    case .interrupted:
      states[index] = .failed
      hasRun.insert(task)
    case .unused where !isWanted(task, plan, entry): states[index] = .skipped
    case .skipped, .excluded, .leftOpen, .skipOption, .skipOnce: states[index] = .skipped
    case .skippedUpstream, .leftUpstream, .stillUpstream:
      states[index] = .skipped
      isSkippedForNeeds[index] = true
    case .later
    where !plan.flags(task).contains(.finally)
      && (keeps(task, plan, entry) || isRuledOutByKept(task, plan, entry)):
      states[index] = entry.results[task]?.state ?? .waiting
      isSkippedForNeeds[index] = entry.results[task]?.isSkippedUpstream == true
      isKept[index] = true
    case .run, .afterNeeds, .recheck, .later, .laterAfterNeeds, .stays, .unused:
      if plan.flags(task).contains(.conditionFalse) {
        states[index] = .skipped
      } else if !needsAreMet(task, plan) {
        states[index] = .skipped
        isSkippedForNeeds[index] = true
      } else if !plan.flags(task).contains(.finally) || anyStarts {
        if let end = endWithoutStart(plan, task, tasks, entry) {
          states[index] = end
          // A failure has another number, too.
          if end == .failedAllowed || end == .failed { hasRun.insert(task) }
        } else if let origin = freshness(of: task, plan, tasks, entry) {
          isOfRecord.insert(task)
          let earlier = entry.results[task]
          // What was skipped since is another result, of the same number.
          isKept[index] = earlier.map { $0.origin == origin && $0.state != .skipped } ?? false
          states[index] = isKept[index] ? earlier?.state ?? .upToDate : .upToDate
          origins[task] = origin
        } else {
          // A service starts with what needs it.
          if !plan.isService(task) || standing.contains(task) { anyStarts = true }
          begun.insert(task)
          hasRun.insert(task)
          states[index] = lastEnd(plan, task, tasks, entry)
        }
      }
    }
  }

  /// Whether what is to run needs a service: what came to need it when it had been skipped as
  /// unused.
  private func isWanted(_ service: TaskID, _ plan: Plan, _ entry: SimulatedSession.Entry) -> Bool {
    plan.dependents(service).contains { edge in
      let user = plan.dependent(edge)
      return entry.initial[user.index] == .run
        || plan.isService(user) && entry.initial[user.index] == .unused
          && isWanted(user, plan, entry)
    }
  }

  private func keeps(_ task: TaskID, _ plan: Plan, _ entry: SimulatedSession.Entry) -> Bool {
    // A service for which it was skipped may be there now.
    if entry.results[task]?.isSkippedUpstream == true, needsAreMet(task, plan) { return false }
    return plan.needs(task).allSatisfy {
      isKept[Int(plan.needTargets[$0])] || plan.isService(TaskID(plan.needTargets[$0]))
    }
  }

  /// It was skipped for its needs, and those that keep what they have rule it out still, whatever
  /// becomes of others.
  private func isRuledOutByKept(_ task: TaskID, _ plan: Plan, _ entry: SimulatedSession.Entry)
    -> Bool
  {
    entry.results[task]?.isSkippedUpstream == true
      && plan.needs(task).contains { edge in
        (isKept[Int(plan.needTargets[edge])] || plan.isService(TaskID(plan.needTargets[edge])))
          && !isMet(edge, plan)
      }
  }

  /// The number of the success that makes it up to date; nil where none does.
  private func freshness(
    of task: TaskID, _ plan: Plan, _ tasks: [SimulatedManifest.Task],
    _ entry: SimulatedSession.Entry
  ) -> UInt64? {
    guard plan.isChecked(task), entry.asked?.contains(task) != true,
      let record = records.record(of: task, plan), mayKeep(record, task, entry),
      record.truth.fingerprint == plan.fingerprint(task).whole,
      record.truth.inputs == tasks[task.index].inputs,
      record.truth.reads
        == tasks[task.index].valuesRead.filter({
          plan.task(named: $0).map { states[$0.index].holdsValues } ?? false
        })
    else { return nil }
    for edge in plan.needs(task) {
      let need = TaskID(plan.needTargets[edge])
      if plan.isService(need) || plan.makesInstances(need) { continue }
      let state = states[need.index]
      // What runs gets another number.
      let number =
        origins[need] ?? ResumeState.origin(ofTry: entry.attempts[need.index], inRun: entry.run)
      let standing: SimulatedRecords.Standing? =
        !state.isSuccess && state != .failed
        ? standing(of: need, skipped: state, plan)
        : hasRun.contains(need) ? nil : state == .failed ? .failure(number) : .success(number)
      if standing == nil || record.truth.needs[plan.nameString(need)] != standing { return nil }
    }
    return record.truth.needs.count
      == Set(
        plan.needs(task).map { plan.needTargets[$0] }.filter {
          !plan.isService(TaskID($0)) && !plan.makesInstances(TaskID($0))
        }
      ).count
      ? record.origin : nil
  }

  /// An allowed failure is kept by the run that it is of.
  private func mayKeep(
    _ record: SimulatedRecords.Record, _ task: TaskID, _ entry: SimulatedSession.Entry
  ) -> Bool {
    if !record.isFailure { return true }
    let earlier = entry.results[task]
    return earlier?.state == .failedAllowed && earlier?.origin == record.origin
  }

  /// Of one that did not run: where that is by wish, it is as its last success left it.
  private func standing(
    of need: TaskID, skipped state: TaskState, _ plan: Plan
  ) -> SimulatedRecords.Standing {
    let isLeftAlone = state == .skipped && !isSkippedForNeeds[need.index]
    let last = isLeftAlone ? records.lastSuccess(of: need, plan) : nil
    return last.map { .success($0) } ?? .ended(state)
  }

  private func needsAreMet(_ task: TaskID, _ plan: Plan) -> Bool {
    plan.needs(task).allSatisfy { isMet($0, plan) }
  }

  private func isMet(_ edge: Int, _ plan: Plan) -> Bool {
    let need = Int(plan.needTargets[edge])
    return switch (plan.needCondition(edge), states[need]) {
    // A `finally` task whose turn does not come: then neither does this one's.
    case (_, .waiting): true
    case (.finished, _), (.failure, .failed): true
    case (.failure, _), (.success, .failed), (.success, .cancelled): false
    case (.success, .skipped): !isSkippedForNeeds[need]
    case (.success, _): true
    case (.ran, .failed), (.ran, .cancelled), (.ran, .skipped): false
    case (.ran, _): true
    }
  }

  /// What a late `if` makes of a task; nil where it starts.
  private func endWithoutStart(
    _ plan: Plan, _ task: TaskID, _ tasks: [SimulatedManifest.Task], _ entry: SimulatedSession.Entry
  ) -> TaskState? {
    guard let need = tasks[task.index].decidedBy else { return nil }
    switch value(of: need, plan, tasks, entry) {
    case "true": return nil
    case nil: return failure(tasks[task.index])
    default: return .skipped
    }
  }

  private func value(
    of name: String, _ plan: Plan, _ tasks: [SimulatedManifest.Task],
    _ entry: SimulatedSession.Entry
  ) -> String? {
    guard let need = plan.task(named: name) else { return nil }
    guard states[need.index].holdsValues else { return plan.readsAsEmpty(need) ? "" : nil }
    if hasRun.contains(need) { return tasks[need.index].value }
    // None of one that nobody was to read, and that would be skipped if it ran again for that.
    let values = isOfRecord.contains(need) ? records.kept[name]?.values : entry.values[need]?.values
    return values?.first?.text.map { String(decoding: $0, as: UTF8.self) }
  }

  private func failure(_ task: SimulatedManifest.Task) -> TaskState {
    task.flags.contains(.allowAnyFailure) ? .failedAllowed : .failed
  }

  private func lastEnd(
    _ plan: Plan, _ id: TaskID, _ tasks: [SimulatedManifest.Task], _ entry: SimulatedSession.Entry
  ) -> TaskState {
    let task = tasks[id.index]
    if task.isApproval {
      if case .succeeds = task.behaviour { return .succeeded }
      return entry.approved.contains(id) ? .succeeded : failure(task)
    }
    let attempts = entry.attempts[id.index]
    if let need = task.reads, value(of: need, plan, tasks, entry) == nil { return failure(task) }
    if let service = task.service { return service.isSound ? .succeeded : .failed }
    var attempt = attempts + 1
    while true {
      let end =
        task.isDownload
        ? task.behaviour.outcome(ofDownload: attempt)
        : task.behaviour.status(attempt: attempt).map { Outcome(status: $0) }
      if end?.isSuccess == true { return .succeeded }
      let used = entry.triesUsed[id]?.count ?? 0
      var mayRetry = attempt - attempts + used <= Int32(task.policy.retryMax)
      var isAllowed = task.flags.contains(.allowAnyFailure)
      if case .exit(let code) = end?.status {
        if !task.retryCodes.isEmpty, !task.retryCodes.contains(code) { mayRetry = false }
        if task.allowedCodes.contains(code) { isAllowed = true }
      } else if !task.retryCodes.isEmpty || end?.reason == .fetchFinal {
        mayRetry = false
      }
      if !mayRetry { return isAllowed ? .failedAllowed : .failed }
      attempt += 1
    }
  }
}
