package import OpflowPlan
package import OpflowWire

/// Used attempts of a task's policy, over sessions that continue each other.
package struct TriesUsed: Equatable, Sendable {
  package var count: Int32 = 0
  package var delayMilliseconds: Int64 = 0

  package init(count: Int32 = 0, delayMilliseconds: Int64 = 0) {
    self.count = count
    self.delayMilliseconds = delayMilliseconds
  }
}

extension TaskPolicy {
  /// Counts a failed attempt against `retries`, except a download's whose part file grew, if there
  /// are retries.
  package func costsTry(_ reason: EndReason?, _ fetch: FetchRecord?) -> Bool {
    guard retryMax > 0, reason == .fetch else { return true }
    return (fetch?.report.gainedBytes ?? 0) <= 0
  }
}
