import OpflowEngine
import OpflowJournal
import OpflowPlan

/// The end of each task in an undisturbed session, derived from the manifest alone: dependencies
/// first, one task after the other, without a scheduler.
struct ExpectedEnds {
  private(set) var states: [TaskState]
  private var isSkippedForNeeds: [Bool]
  private var anyStarts: Bool
  /// Tasks that keep the result of an earlier session, and the numbers of valid successes.
  private var isKept: [Bool]
  private var origins: [TaskID: UInt64]
  private var hasRun: Set<TaskID> = []
  /// Tasks of `hasRun` that have a process.
  private var begun: Set<TaskID> = []
  private var isOfRecord: Set<TaskID> = []
  private let records: SimulatedRecords
  /// Services without dependents when they were added.
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

  /// Turns services that no running task used into skipped ones.
  private mutating func useServices(_ plan: Plan, _ entry: SimulatedSession.Entry) {
    for index in plan.topologicalOrder.reversed() {
      let task = TaskID(index)
      guard plan.isService(task), begun.contains(task), !standing.contains(task) else { continue }
      let users = plan.dependents(task).map { plan.dependent($0) }
      // Its users are pending `finally` tasks, or tasks that only those need.
      let isLeft = users.contains { [.waiting, .ready].contains(states[$0.index]) }
      if isLeft, !users.contains(where: { begun.contains($0) }) {
        states[task.index] = .ready
        begun.remove(task)
      } else if states[task.index] == .succeeded, !users.isEmpty,
        // A service that was already up has an end of its own, used or not.
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
          // A failure gets a new number, too.
          if end == .failedAllowed || end == .failed { hasRun.insert(task) }
        } else if let origin = freshness(of: task, plan, tasks, entry) {
          isOfRecord.insert(task)
          let earlier = entry.results[task]
          // A task that has been skipped since then has another result with the same number.
          isKept[index] = earlier.map { $0.origin == origin && $0.state != .skipped } ?? false
          states[index] = isKept[index] ? earlier?.state ?? .upToDate : .upToDate
          origins[task] = origin
        } else {
          // A service starts with its first user.
          if !plan.isService(task) || standing.contains(task) { anyStarts = true }
          begun.insert(task)
          hasRun.insert(task)
          states[index] = lastEnd(plan, task, tasks, entry)
        }
      }
    }
  }

  /// True if a task that is going to run needs a service that was skipped as unused.
  private func isWanted(_ service: TaskID, _ plan: Plan, _ entry: SimulatedSession.Entry) -> Bool {
    plan.dependents(service).contains { edge in
      let user = plan.dependent(edge)
      return entry.initial[user.index] == .run
        || plan.isService(user) && entry.initial[user.index] == .unused
          && isWanted(user, plan, entry)
    }
  }

  private func keeps(_ task: TaskID, _ plan: Plan, _ entry: SimulatedSession.Entry) -> Bool {
    // A service whose end caused the skip may be available now.
    if entry.results[task]?.isSkippedUpstream == true, needsAreMet(task, plan) { return false }
    return plan.needs(task).allSatisfy {
      isKept[Int(plan.needTargets[$0])] || plan.isService(TaskID(plan.needTargets[$0]))
    }
  }

  /// True if the task was skipped for a dependency, and dependencies that keep their results still
  /// rule it out.
  private func isRuledOutByKept(_ task: TaskID, _ plan: Plan, _ entry: SimulatedSession.Entry)
    -> Bool
  {
    entry.results[task]?.isSkippedUpstream == true
      && plan.needs(task).contains { edge in
        (isKept[Int(plan.needTargets[edge])] || plan.isService(TaskID(plan.needTargets[edge])))
          && !isMet(edge, plan)
      }
  }

  /// Returns the number of the success that makes the task up to date, or nil.
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
      // A task that runs gets another number.
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

  /// Only the run of an allowed failure keeps it.
  private func mayKeep(
    _ record: SimulatedRecords.Record, _ task: TaskID, _ entry: SimulatedSession.Entry
  ) -> Bool {
    if !record.isFailure { return true }
    let earlier = entry.results[task]
    return earlier?.state == .failedAllowed && earlier?.origin == record.origin
  }

  /// A task that was not skipped for a dependency counts like its last success.
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
    // A pending `finally` task; then this task stays pending too.
    case (_, .waiting): true
    case (.finished, _), (.failure, .failed): true
    case (.failure, _), (.success, .failed), (.success, .cancelled): false
    case (.success, .skipped): !isSkippedForNeeds[need]
    case (.success, _): true
    case (.ran, .failed), (.ran, .cancelled), (.ran, .skipped): false
    case (.ran, _): true
    }
  }

  /// Returns the end that a late `if` gives a task, or nil if the task starts.
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
    // A task has no values if no task was to read them and a re-run would skip it.
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
