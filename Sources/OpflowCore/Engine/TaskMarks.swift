/// What else is to be remembered of a task.
struct TaskMarks: OptionSet {
  var rawValue: UInt16
  /// `max_failures` does not hold it back.
  static let exempt = TaskMarks(rawValue: 1 << 0)
  /// Skipped because its needs could not be met; such a skip meets only `finished`.
  static let skippedUpstream = TaskMarks(rawValue: 1 << 1)
  /// A `finally` task that waits for one of its needs to have run in this drive.
  static let afterNeeds = TaskMarks(rawValue: 1 << 2)
  /// Ready, but nothing new starts: it is in no queue.
  static let held = TaskMarks(rawValue: 1 << 3)
  /// Waits for a retry's delay.
  static let delayed = TaskMarks(rawValue: 1 << 4)
  static let failsAtBegin = TaskMarks(rawValue: 1 << 5)
  static let skipsAtBegin = TaskMarks(rawValue: 1 << 6)
  /// A try of it came to an end in this drive, by itself or with its worker.
  static let ran = TaskMarks(rawValue: 1 << 7)
  /// An order about it waits to be decided: until then it does not start.
  static let fenced = TaskMarks(rawValue: 1 << 8)
  /// It was suspended by an order: it does not start, or stands still.
  static let onHold = TaskMarks(rawValue: 1 << 9)
  /// It runs, and an order cancelled it: whatever it ends with, it is not tried again. As the drive begins: so it was
  /// in the one before.
  static let cancelling = TaskMarks(rawValue: 1 << 10)
  /// Its next try needs no check by content, or had one.
  static let checked = TaskMarks(rawValue: 1 << 11)
  /// The journal has a result of it, of an earlier drive, that it may come to keep.
  static let mayKeep = TaskMarks(rawValue: 1 << 12)
  /// A service that counts as there for its users: it has all that it needs.
  static let offered = TaskMarks(rawValue: 1 << 14)
  /// A service that nothing came to need.
  static let unused = TaskMarks(rawValue: 1 << 15)
  /// It kept that.
  static let kept = TaskMarks(rawValue: 1 << 13)
}
