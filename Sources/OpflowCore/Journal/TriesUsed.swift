/// What a task has had of the tries that its policy gives it, in drives of which each went on with the one before it.
package struct TriesUsed: Equatable, Sendable {
  /// How many of them failed.
  package var count: Int32 = 0
  /// Until the next one, in milliseconds.
  package var delayMilliseconds: Int64 = 0

  package init(count: Int32 = 0, delayMilliseconds: Int64 = 0) {
    self.count = count
    self.delayMilliseconds = delayMilliseconds
  }
}

extension TaskPolicy {
  /// Whether a try that failed is one of those that the policy has. A download whose part has grown is nearer to its end
  /// than before, and will get there: that try is none of them, unless there are none.
  func costsTry(_ reason: EndReason?, _ fetch: FetchRecord?) -> Bool {
    guard retryMax > 0, reason == .fetch else { return true }
    return (fetch?.report.gainedBytes ?? 0) <= 0
  }
}
