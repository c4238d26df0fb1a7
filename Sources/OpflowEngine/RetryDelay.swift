internal import OpflowBase
internal import OpflowPlan
internal import OpflowWire

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

  /// The delay, or the server's longer one up to `max_delay`.
  static func milliseconds(
    _ delay: Int64, asAskedBy fetch: FetchRecord?, policy: TaskPolicy
  ) -> Int64 {
    guard let asked = fetch?.report.waitMilliseconds, asked > delay else { return delay }
    return max(delay, min(asked, Int64(policy.retryMaxDelayMilliseconds)))
  }

  /// Returns `delay` times `backoff` to the power of earlier attempts, at most `max_delay`, varied
  /// by `jitter` so that tasks that failed together retry apart.
  static func milliseconds(
    policy: TaskPolicy, triesUsed: Int, random: inout SplitMix64
  ) -> Int64 {
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
