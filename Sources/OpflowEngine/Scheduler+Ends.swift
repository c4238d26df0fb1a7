internal import OpflowBase
internal import OpflowJournal
internal import OpflowPlan
internal import OpflowWire

extension Scheduler {
  mutating func ended(_ worker: WorkerID, _ task: TaskID, _ outcome: Outcome, detail: String) {
    let excuse =
      options.usesNodes && !isOrdinary(outcome, of: task)
      ? machines.excuse(at: workforce.workers[worker.index].node) : nil
    let wall = min(outcome.usage.wallMicroseconds, SchedulerOptions.shortTaskMicroseconds * 8)
    let freed = workforce.ended(worker, continues: outcome.isSuccess, wall: wall, at: now)
    if freed.share != nil { release(freed.share, of: task) }
    if workforce.workers[worker.index].kind == .block { blocks.free(worker) }
    if workforce.workers[worker.index].isOfEarlierSession {
      discard(worker, complaint: "")
    }
    graph.mark(task, .ran)
    noteChange()

    if let excuse, isExcused(outcome), !graph.has(.cancelling, task), phase.stopCause == nil {
      let node = workforce.workers[worker.index].node
      if outcome.reason == .stopped(.timeOver) {
        return interrupted(task, at: node, outcome, complaint: excuse)
      }
      return interrupted(task, at: node, complaint: excuse)
    }

    let left = leftBehind.isEmpty ? nil : leftBehind.removeValue(forKey: task)
    let fetch = fetches.isEmpty ? nil : fetches.removeValue(forKey: task)
    let read = takeRead(by: task)
    let (values, fault) = self.values.end(
      task, attempt: attempt[task.index], isSuccess: outcome.isSuccess)
    var transition = Transition(.success, task, attempt: attempt[task.index])
    transition.outcome = outcome
    let text = fetch.map(\.report.detail) ?? fault ?? takeDiscarded(task) ?? detail
    if !text.isEmpty { transition.detail = text }
    if let left { note(left, in: &transition) }
    if let fetch { transition.fetch = fetch }
    if isService(task) { return serviceEnded(task, consume transition) }
    let isRestored = !restored.isEmpty && restored.remove(task) != nil
    let isCancelled = graph.has(.cancelling, task) && !outcome.isSuccess
    graph.unmark(task, .cancelling)
    switch outcome.reason {
    case _ where isCancelled && outcome.reason != .output:
      transition.event = .cancel
      cancelled += 1
      settle(task, as: .cancelled, consume transition)
    case _ where phase.isStopped(outcome):
      transition.outcome.reason = .stopped(phase.stopReason)
      transition.event = .cancel
      settle(task, as: .cancelled, consume transition)
    case .stopped(.serviceLost) where phase.stopCause == nil || plan.flags(task).contains(.finally):
      if let lost = services.takeLoss(of: task) { transition.detail = plan.nameString(lost) }
      failed(task, consume transition, having: read)
    case .stopped:
      transition.event = .cancel
      settle(task, as: .cancelled, consume transition)
    case .output:
      transition.event = .failure
      settle(task, as: .failed, consume transition)
      stop(.ioError)
    case nil where outcome.isSuccess:
      transition.fingerprint = plan.fingerprint(task)
      if plan.flags(task).contains(.leavesValues) { transition.values = values }
      if let read { transition.with = read }
      if plan.hasEmptyMatrix(task) { transition.detail = Plan.emptyMatrixText }
      if isRestored { transition.isRestored = true }
      settle(task, as: .succeeded, consume transition)
    case nil, .timeout, .refused, .fetch, .fetchFinal, .workerLost, .interrupted, .revoked, .value,
      .input, .noOutput, .memory, .rejected, .unready, .ended:
      failed(task, consume transition, having: read)
    }
  }

  /// A service must be told to end.
  @inline(__always)
  private func isOrdinary(_ outcome: Outcome, of task: TaskID) -> Bool {
    isService(task) ? services.stopping.contains(task) : outcome.isSuccess
  }

  private func isExcused(_ outcome: Outcome) -> Bool {
    switch outcome.reason {
    case nil, .interrupted, .refused, .stopped(.timeOver), .stopped(.serviceLost): true
    default: false
    }
  }

  private mutating func failed(_ task: TaskID, _ failure: Transition, having read: UInt64?) {
    var transition = failure
    let policy = plan.policy(task)
    if policy.costsTry(transition.outcome.reason, transition.fetch) { triesUsed[task.index] += 1 }
    let tries = Int(triesUsed[task.index])
    if mayStart(task), !lacksService(task), !transition.leavesAlive,
      RetryDelay.isWorthwhile(
        task, transition.outcome, policy: policy, triesUsed: tries, plan: plan)
    {
      if !recorded.isEmpty { recorded[task] = nil }
      transition.event = .retry
      transition.delayMilliseconds = RetryDelay.milliseconds(
        policy: policy, triesUsed: tries, random: &random)
      transition.delayMilliseconds = RetryDelay.milliseconds(
        transition.delayMilliseconds, asAskedBy: transition.fetch, policy: policy)
      graph.set(task, .waiting)
      graph.mark(task, .delayed)
      tell(transition)
      timers.push(
        RetryTimer(at: now.advanced(byMilliseconds: transition.delayMilliseconds), task: task))
      return
    }
    transition.event = .failure
    if plan.allowsFailure(task, transition.outcome.status, transition.outcome.reason) {
      transition.allowed = true
      transition.fingerprint = plan.fingerprint(task)
      if let read { transition.with = read }
      settle(task, as: .failedAllowed, transition)
    } else {
      settle(task, as: .failed, transition)
    }
  }

  private func lacksService(_ task: TaskID) -> Bool {
    plan.services(neededBy: task).contains {
      let state = graph.state($0)
      return state.isTerminal
        && !state.meets(.success, skippedUpstream: graph.has(.skippedUpstream, $0))
    }
  }

  mutating func countFailure(of task: TaskID) {
    failures += 1
    exemptFailureEdges(of: task)
    if options.maxFailures > 0, failures >= options.maxFailures, !phase.isHalted {
      halt()
    }
  }

  mutating func exemptFailureEdges(of task: TaskID) {
    for edge in plan.dependents(task) where plan.dependentCondition(edge).isMetByFailure {
      exempt(plan.dependent(edge))
    }
  }

  /// Also exempts dependencies.
  mutating func exempt(_ first: TaskID) {
    let exempted = graph.exempt(first)
    if !exempted.isEmpty { services.review.touchAll() }
    for task in exempted where mayStart(task) {
      if graph.has(.held, task) {
        letGo(task)
      } else if let at = withheld.removeValue(forKey: task) {
        timers.push(RetryTimer(at: at, task: task))
      }
    }
  }
}

enum RetryDelay {
  /// With `exit_codes` only those are retried. A missing input value is final, since the task did
  /// not run.
  static func isWorthwhile(
    _ task: TaskID, _ outcome: Outcome, policy: TaskPolicy, triesUsed: Int, plan: Plan
  ) -> Bool {
    guard triesUsed <= Int(policy.retryMax), outcome.reason != .fetchFinal,
      outcome.reason != .value || outcome.status == .success
    else { return false }
    // The task itself did nothing wrong.
    if outcome.reason == .stopped(.serviceLost) { return true }
    guard policy.retryCodes != 0 else { return true }
    guard outcome.reason == nil, let code = plan.exitCode(task, outcome.status) else {
      return false
    }
    return plan.codeList(policy.retryCodes).contains(code)
  }

  static func milliseconds(
    _ delay: Int64, asAskedBy fetch: FetchRecord?, policy: TaskPolicy
  ) -> Int64 {
    guard let asked = fetch?.report.waitMilliseconds, asked > delay else { return delay }
    return max(delay, min(asked, Int64(policy.retryMaxDelayMilliseconds)))
  }

  /// Returns `delay` times `backoff` to the power of earlier attempts, at most `max_delay`, varied
  /// by `jitter` so that tasks that failed together retry apart.
  static func milliseconds(policy: TaskPolicy, triesUsed: Int, random: inout SplitMix64) -> Int64 {
    var delay = Double(policy.retryDelayMilliseconds)
    let limit = Double(policy.retryMaxDelayMilliseconds)
    let factor = Double(policy.retryBackoffPermille) / 1000
    var step = 1
    while step < triesUsed, delay < limit, factor > 1 {
      delay *= factor
      step += 1
    }
    if factor < 1 { for _ in 1..<max(triesUsed, 1) { delay *= factor } }
    delay = min(delay, limit)
    let jitter = Double(policy.retryJitterPermille) / 1000
    let share = Double(random.next() >> 11) / Double(UInt64(1) << 53)
    // Rounded by hand: `rounded()` needs the C library.
    return Int64(delay * (1 - jitter + 2 * jitter * share) + 0.5)
  }
}
