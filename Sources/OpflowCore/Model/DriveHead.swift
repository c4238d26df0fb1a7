/// The `resume` lines of tasks that a drive begins with: how many the run's own `resume` promised,
/// and how many were seen or can be told from what followed.
struct DriveHead: Sendable {
  /// Of the run's `resume`; 0 where there is none.
  var sequence: UInt64 = 0
  var expected = 0
  var seen = 0
  private var missing: UInt64 = 0

  init() {}

  init(sequence: UInt64, expected: Int) {
    self.sequence = sequence
    self.expected = expected
  }

  /// Lines are missing while not all of the head's were seen.
  mutating func lose(_ count: UInt64) {
    if seen < expected { missing += count }
  }

  /// A crash within the head is no loss: nothing had been started, and nothing is missing.
  var isIncomplete: Bool { missing > 0 && seen < expected }

  /// More of its lines are to come, as far as nothing is lost.
  var isOpen: Bool { missing == 0 && seen < expected && expected != .max }
}
