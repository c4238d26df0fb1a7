internal import OpflowPlan

struct SiteAllocation {
  let allocation: SlurmAllocation?
  var isGranted = false
  /// No further agent is started there.
  var isOver = false
  var complaint = ""
  /// What delays it, for the user.
  var awaited: String?
  private(set) var endsAt: Instant?

  init(_ allocation: SlurmAllocation?) { self.allocation = allocation }

  /// Tasks are stopped so long before the end, to leave time for their ends and the journal.
  static let marginMilliseconds: Int64 = 5_000

  /// Whether the end changed by more than rounding explains.
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

  var leavesAt: Instant? {
    isOver ? nil : endsAt?.advanced(byMilliseconds: -Self.marginMilliseconds)
  }

  func isNearEnd(at now: Instant) -> Bool { leavesAt.map { $0 <= now } ?? false }
}
