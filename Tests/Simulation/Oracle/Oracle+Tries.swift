import OpflowJournal
import OpflowPlan

/// Limits and delays of retries.
extension Oracle {
  /// Applies the attempts that were used in the sessions that this one continues.
  mutating func take(_ tries: [TaskID: TriesUsed], at begin: Instant) {
    for (task, used) in tries {
      retries[task.index] = Int(used.count)
      if used.delayMilliseconds > 0, stand[task.index] == .waiting, !cancelling.contains(task) {
        mayStartAt[task.index] = begin.advanced(byMilliseconds: used.delayMilliseconds)
      }
    }
  }

  mutating func takeRetry(
    _ line: Transition, _ stood: Stand, _ key: Try, at now: Instant
  ) throws(Finding) {
    let task = line.task
    if !isStopping { try checkCost(of: line) }
    try checkEnd(line, stood, key)
    if isService(task) {
      stand[task.index] = .waiting
      return
    }
    let policy = plan.policy(task)
    retries[task.index] += 1
    guard retries[task.index] <= Int(policy.retryMax) else {
      throw fault(task, "retried too often")
    }
    let delay = Double(line.delayMilliseconds)
    var expected = Double(policy.retryDelayMilliseconds)
    for _ in 1..<retries[task.index] { expected *= Double(policy.retryBackoffPermille) / 1000 }
    expected = min(expected, Double(policy.retryMaxDelayMilliseconds))
    let jitter = expected * Double(policy.retryJitterPermille) / 1000 + 1
    guard abs(delay - expected) <= jitter else { throw fault(task, "a delay of \(delay) ms") }
    mayStartAt[task.index] = now.advanced(byMilliseconds: line.delayMilliseconds)
    stand[task.index] = .waiting
  }
}
