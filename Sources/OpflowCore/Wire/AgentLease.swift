/// How long an agent may let its workers go on without a word of the coordinator's: `RelayLines` says why
/// that is safe. All times are of a clock that goes on while the machine sleeps.
package struct AgentLease {
  private let nanoseconds: Int64
  /// When what proves that the coordinator lived was sent.
  private var provenAt: Instant
  /// Pulses that have not come back, the oldest first: their number and when they were sent.
  private var underway: [(number: Int32, at: Instant)] = []
  private var lastNumber: Int32 = 0
  private(set) package var nextPulse: Instant

  /// Between two pulses.
  package static let intervalMilliseconds: Int64 = 2_000
  /// Of the design: an agent goes on for so long after the last pulse that came back.
  package static let standardMilliseconds: Int64 = 5_000

  /// - Parameter now: when the coordinator's first word was read.
  package init(milliseconds: Int64, from now: Instant) {
    nanoseconds = milliseconds * 1_000_000
    provenAt = now
    nextPulse = now
  }

  /// When it runs out.
  package var end: Instant { Instant(nanoseconds: provenAt.nanoseconds + nanoseconds) }

  /// Sends a pulse, where one is due.
  ///
  /// - Returns: its number; nil where none is.
  package mutating func pulse(at now: Instant) -> Int32? {
    guard nextPulse <= now else { return nil }
    lastNumber &+= 1
    underway.append((lastNumber, now))
    // A lease is a handful of pulses long: what is older proves nothing that matters.
    if underway.count > Self.mostUnderway { underway.removeFirst() }
    // Twice within a lease at least, however short that is.
    let interval = min(Self.intervalMilliseconds * 1_000_000, nanoseconds / 2)
    nextPulse = Instant(nanoseconds: now.nanoseconds + interval)
    return lastNumber
  }

  private static let mostUnderway = 64

  /// A pulse has come back. One that was never sent, or came back before, says nothing.
  package mutating func answered(_ number: Int32) {
    guard let place = underway.firstIndex(where: { $0.number == number }) else { return }
    provenAt = underway[place].at
    underway.removeSubrange(...place)
  }
}
