package import OpflowPlan

/// The heartbeat timeout of an agent's workers; for the reasons see `RelayLines`. The clock goes on
/// while the host sleeps.
package struct AgentLease {
  private let nanoseconds: Int64
  /// When the newest answered pulse was sent.
  private var provenAt: Instant
  /// Unanswered, oldest first.
  private var underway: [(number: Int32, at: Instant)] = []
  private var lastNumber: Int32 = 0
  private(set) package var nextPulse: Instant

  package static let intervalMilliseconds: Int64 = 2_000
  package static let standardMilliseconds: Int64 = 5_000

  /// - Parameter now: when the coordinator's first message was read.
  package init(milliseconds: Int64, from now: Instant) {
    nanoseconds = milliseconds * 1_000_000
    provenAt = now
    nextPulse = now
  }

  package var end: Instant { Instant(nanoseconds: provenAt.nanoseconds + nanoseconds) }

  package mutating func pulse(at now: Instant) -> Int32? {
    guard nextPulse <= now else { return nil }
    lastNumber &+= 1
    underway.append((lastNumber, now))
    // Older ones do not matter.
    if underway.count > Self.mostUnderway { underway.removeFirst() }
    // At least two pulses per timeout.
    let interval = min(Self.intervalMilliseconds * 1_000_000, nanoseconds / 2)
    nextPulse = Instant(nanoseconds: now.nanoseconds + interval)
    return lastNumber
  }

  private static let mostUnderway = 64

  /// Ignores an unknown or repeated number.
  package mutating func answered(_ number: Int32) {
    guard let place = underway.firstIndex(where: { $0.number == number }) else { return }
    provenAt = underway[place].at
    underway.removeSubrange(...place)
  }
}
