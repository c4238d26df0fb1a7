import OpflowBase
import OpflowEngine
import OpflowJournal
import OpflowPlan
import OpflowWire
import OpflowWorker

/// Tasks that declare `inputs`: their checks and records.
extension SimulatedSession {
  /// A worker checks a task.
  mutating func answer(_ check: TaskCheck, of worker: Int) {
    let task = tasks[check.task.index]
    let key = SimulatedRecords.key(check, task, records.needs(of: check, plan))
    let result: CheckResult
    if !check.isAsked, let record = records.record(of: check.task, plan), record.key == key,
      !record.isFailure || check.keeps == record.origin
    {
      if plan.flags(check.task).contains(.leavesValues), !record.isFailure {
        for var value in record.values ?? [] {
          if !plan.flags(check.task).contains(.decidesOthers) { value.text = nil }
          workers[worker].outbox.append(.kept(check.task, serial: check.serial, value))
        }
      }
      result = .fresh(origin: record.origin)
    } else {
      seen[check.task] = (key, records.origin(of: task.name))
      truths[check.task] = asks[check.serial]
      if !check.isAsked, records.hasCached(key, of: task.name) {
        cached.insert(check.task)
      } else {
        cached.remove(check.task)
      }
      result = .stale(why: "imagined")
      runElsewhere(check.task)
    }
    workers[worker].outbox.append(.checked(check.task, serial: check.serial, result))
  }

  /// Sometimes lets another run of the state folder start a task right after its check here; that
  /// run succeeds or is killed. Uses no random number, so that seeds keep their meaning.
  private mutating func runElsewhere(_ task: TaskID) {
    guard !injector.isNone, steps % 4 == 0, let key = seen[task]?.key, let truth = truths[task]
    else {
      return
    }
    let name = plan.nameString(task)
    records.void(name)
    // The values that another run reads and leaves are not simulated.
    let hasValues =
      !tasks[task.index].valuesRead.isEmpty || plan.flags(task).contains(.leavesValues)
    if steps % 8 == 0 || hasValues { return }
    let record = SimulatedRecords.Record(
      key: key, origin: Hash.combine(run, records.nextElsewhere()), truth: truth)
    records.write(record, of: name)
  }

  /// True if another run has run the task since its check.
  func hasRunElsewhere(_ task: TaskID) -> Bool {
    guard plan.hasChecks, plan.isChecked(task), let seen = seen[task] else { return false }
    return records.origin(of: plan.nameString(task)) != seen.origin
  }

  /// Called right before the process is created.
  mutating func noteStart(of task: TaskID) throws(Finding) {
    guard plan.hasChecks, plan.isChecked(task) else { return }
    let name = plan.nameString(task)
    if isUpToDate(task) { throw Finding("\(name): it starts though it is up to date") }
    records.void(name)
  }

  /// Records the state of things when a check is requested.
  mutating func noteQuestion(_ check: TaskCheck) { asks[check.serial] = truth(of: check.task) }
  /// True if the cache has a result that can be restored.
  mutating func mayBringBack(_ tree: SimulatedTree) -> Bool {
    plan.hasChecks && cached.contains(tree.task)
      && tasks[tree.task.index].behaviour.status(attempt: tree.attempt) == .success
      && random.chance(50)
  }

  /// Records a success or an allowed failure.
  mutating func record(_ task: TaskID, isSuccess: Bool) throws(Finding) -> RecordResult {
    guard let key = seen[task]?.key, let truth = truths[task] else {
      throw Finding("\(plan.nameString(task)): it ran, and nobody had looked at it")
    }
    if !injector.isNone, random.chance(5) { return .discarded(detail: "imagined") }
    let origin = random.next()
    var record = SimulatedRecords.Record(
      key: key, origin: origin, truth: truth, isFailure: !isSuccess)
    if isSuccess, plan.flags(task).contains(.leavesValues) {
      record.values = tasks[task.index].values(keepsTexts: true)
    }
    records.write(record, of: plan.nameString(task))
    return .kept(origin: origin)
  }

  /// Returns the current state of everything that decides whether the task is up to date.
  func truth(of task: TaskID) -> SimulatedRecords.Truth {
    var needs: [String: SimulatedRecords.Standing] = [:]
    for edge in plan.needs(task) {
      let need = TaskID(plan.needTargets[edge])
      // Neither has a result.
      if plan.isService(need) || plan.makesInstances(need) { continue }
      let state = engine.state(need)
      let number = origins[need] ?? ResumeState.origin(ofTry: oracle.attempt(need), inRun: run)
      let last =
        state == .skipped && !isSkippedForNeeds(need) ? records.lastSuccess(of: need, plan) : nil
      needs[plan.nameString(need)] =
        state.isSuccess
        ? .success(number)
        : state == .failed ? .failure(number) : last.map { .success($0) } ?? .ended(state)
    }
    return SimulatedRecords.Truth(
      fingerprint: plan.fingerprint(task).whole, inputs: tasks[task.index].inputs,
      // A skipped task has no values in this run.
      reads: tasks[task.index].valuesRead.filter {
        plan.task(named: $0).map { engine.state($0).holdsValues && held[$0] != nil } ?? false
      }, needs: needs)
  }

  private func isSkippedForNeeds(_ task: TaskID) -> Bool {
    if skipped[task] == nil, results[task]?.isSkippedUpstream == true { return true }
    return switch initial[task.index] {
    case .skippedUpstream, .leftUpstream, .stillUpstream: true
    case .run, .recheck, .later, .laterAfterNeeds, .afterNeeds, .interrupted, .skipOption,
      .skipOnce, .succeeded, .upToDate, .failedAllowed, .skipped, .unused, .failed, .excluded,
      .stillFailed, .stillCancelled,
      .leftDone, .stays,
      .leftFailed, .leftOpen:
      skipped[task]?.isUpstream ?? false
    }
  }

  private func isUpToDate(_ task: TaskID) -> Bool {
    holds(task) && records.record(of: task, plan)?.isFailure == false
  }

  /// True if the last success or allowed failure matches the current state.
  private func holds(_ task: TaskID) -> Bool {
    records.record(of: task, plan)?.truth == truth(of: task) && asked?.contains(task) != true
  }

  /// Keeps the values of a task that ended with this line.
  private mutating func hold(_ line: Transition) {
    guard let values = line.values else { return }
    let attempt = line.event == .success ? line.attempt : ValueFolder.ofRecord
    held[line.task] = values.isEmpty ? nil : ValueSet(attempt: attempt, values)
  }

  /// Checks the journal's lines about checks against the observed state.
  mutating func checkFreshness(_ line: Transition) throws(Finding) {
    let task = line.task
    if !task.isNone { hold(line) }
    if case .skip(let reason) = line.event { skipped[task] = reason }
    guard plan.hasChecks, !task.isNone else { return }
    let name = plan.nameString(task)
    switch line.event {
    case .success:
      guard let origin = line.origin else { throw Finding("\(name): a success without a number") }
      try records.note(origin)
      origins[task] = origin
    case .failure:
      guard let origin = line.origin else { throw Finding("\(name): no number of its end") }
      try records.note(origin)
      origins[task] = origin
    case .fresh where plan.isChecked(task) && line.origin != nil:
      guard holds(task), let record = records.kept[name], line.origin == record.origin,
        !record.isFailure || line.kept == .failedAllowed
      else {
        throw Finding("\(name): it is told to be up to date, and is not")
      }
      let left = plan.flags(task).contains(.leavesValues) ? records.kept[name]?.values : nil
      guard line.values?.map(\.hash) == left?.map(\.hash) else {
        throw Finding("\(name): it is up to date, and not with what it left")
      }
      if line.kept != nil, results[task]?.origin != line.origin {
        throw Finding("\(name): it keeps what is not its own result")
      }
      if line.kept != nil { keptLate.insert(task) }
      origins[task] = line.origin
    case .fresh:
      guard line.kept != nil, results[task] != nil else {
        throw Finding("\(name): it keeps a result that it does not have")
      }
      for edge in plan.needs(task)
      where line.kept != .skipped && !plan.flags(task).contains(.finally) {
        let need = TaskID(plan.needTargets[edge])
        if !keptLate.contains(need), !plan.isService(need), initial[need.index].endsBefore == false
        {
          throw Finding("\(name): it is kept though \(plan.nameString(need)) is not")
        }
      }
      keptLate.insert(task)
    case .start where plan.isChecked(task):
      if isUpToDate(task), !hasRunElsewhere(task) {
        throw Finding("\(name): it starts though it is up to date")
      }
    case .start, .retry, .skip, .cancel, .interrupt, .pause, .proceed, .resume, .ready, .stopping:
      break
    }
  }
}

extension InitialState {
  /// True if the task has ended before the session begins.
  var endsBefore: Bool {
    switch self {
    case .run, .recheck, .later, .laterAfterNeeds, .afterNeeds, .interrupted, .skipOption,
      .skipOnce, .stays:
      false
    case .succeeded, .upToDate, .failedAllowed, .skipped, .unused, .skippedUpstream, .failed,
      .stillFailed, .stillCancelled, .stillUpstream, .excluded, .leftDone, .leftFailed,
      .leftUpstream, .leftOpen:
      true
    }
  }
}
