struct TaskMarks: OptionSet {
  var rawValue: UInt16
  /// Not held back by `max_failures`.
  static let exempt = TaskMarks(rawValue: 1 << 0)
  /// Skipped for a dependency; this meets only `finished`.
  static let skippedUpstream = TaskMarks(rawValue: 1 << 1)
  /// A `finally` task that runs only if a dependency ran in this session.
  static let afterNeeds = TaskMarks(rawValue: 1 << 2)
  /// Ready, but in no queue since it may not start.
  static let held = TaskMarks(rawValue: 1 << 3)
  /// In a retry delay.
  static let delayed = TaskMarks(rawValue: 1 << 4)
  static let failsAtBegin = TaskMarks(rawValue: 1 << 5)
  static let skipsAtBegin = TaskMarks(rawValue: 1 << 6)
  /// An attempt has ended in this session, by itself or with its worker.
  static let ran = TaskMarks(rawValue: 1 << 7)
  /// A pending request keeps it from starting.
  static let fenced = TaskMarks(rawValue: 1 << 8)
  /// Suspended by a request.
  static let onHold = TaskMarks(rawValue: 1 << 9)
  /// Cancelled by a request while it ran; at the beginning: in the previous session.
  static let cancelling = TaskMarks(rawValue: 1 << 10)
  /// The next attempt needs no up-to-date check, or had one.
  static let checked = TaskMarks(rawValue: 1 << 11)
  /// May keep an earlier result.
  static let mayKeep = TaskMarks(rawValue: 1 << 12)
  /// A service that is there for its users: its dependencies are met.
  static let offered = TaskMarks(rawValue: 1 << 14)
  static let unused = TaskMarks(rawValue: 1 << 15)
  static let kept = TaskMarks(rawValue: 1 << 13)
}
