internal import OpflowCore

/// One of the allocations of a drive.
struct SiteAllocation {
  let allocation: SlurmAllocation?
  var isGranted = false
  /// No further agent is started there.
  var isOver = false
  var complaint = ""
  /// What is waited for so that it comes, in words; nil for nothing.
  var awaited: String?
  private(set) var endsAt: Instant?

  init(_ allocation: SlurmAllocation?) { self.allocation = allocation }

  /// So long before its end nothing more runs there: for the ends of tasks, and what is still to be written.
  static let marginMilliseconds: Int64 = 5_000

  /// - Returns: whether that is more than what comes of counting in whole seconds.
  @discardableResult
  mutating func setTimeLeft(_ seconds: Int64?, at now: Instant) -> Bool {
    let end = seconds.map { now.advanced(byMilliseconds: max(0, $0) * 1_000) }
    if let end, let endsAt, abs(end.nanoseconds - endsAt.nanoseconds) < Self.notableNanoseconds {
      return false
    }
    defer { endsAt = end }
    return end != endsAt
  }

  private static let notableNanoseconds: Int64 = 2_000_000_000

  /// When what runs there is to be ended.
  var leavesAt: Instant? {
    isOver ? nil : endsAt?.advanced(byMilliseconds: -Self.marginMilliseconds)
  }

  func isNearEnd(at now: Instant) -> Bool { leavesAt.map { $0 <= now } ?? false }
}
