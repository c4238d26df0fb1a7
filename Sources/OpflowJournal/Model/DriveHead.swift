/// The tasks' `resume` lines at the start of a session: announced by the run's `resume`, and seen.
struct DriveHead: Sendable {
  var sequence: UInt64 = 0
  var expected = 0
  var seen = 0
  private var missing: UInt64 = 0

  init() {}

  init(sequence: UInt64, expected: Int) {
    self.sequence = sequence
    self.expected = expected
  }

  mutating func lose(_ count: UInt64) {
    if seen < expected { missing += count }
  }

  /// A crash within the head loses no lines: no task had started.
  var isIncomplete: Bool { missing > 0 && seen < expected }

  var isOpen: Bool { missing == 0 && seen < expected && expected != .max }
}
