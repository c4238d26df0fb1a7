internal import OpflowCore

/// What is known, before a task starts, of the files that its earlier attempts left at its outputs.
struct LeftFiles {
  /// The files that they made, as they left them.
  var made: SeenFiles = []
  /// Those that the last attempt did not write again.
  var untouched: Set<[UInt8]> = []
  /// Those from before the first attempt, which the task changed.
  var changed: Set<[UInt8]> = []
  /// The paths that existed before an attempt whose end is unknown and are not the task's; nil if
  /// there is no such attempt.
  var strangersOfLost: Set<[UInt8]>?

  /// Whether an attempt whose end is unknown may have written a file that is not in `made`.
  func mayBeOfLost(_ path: [UInt8]) -> Bool { strangersOfLost.map { !$0.contains(path) } ?? false }
}
