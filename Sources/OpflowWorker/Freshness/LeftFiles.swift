/// What is known, before a task starts, of the files that its earlier attempts left at its outputs.
struct LeftFiles {
  /// As the attempts left them.
  var made: SeenFiles = []
  /// The last attempt did not write them again.
  var untouched: Set<[UInt8]> = []
  /// From before the first attempt, and changed by the task.
  var changed: Set<[UInt8]> = []
  /// Paths that existed before an attempt whose end is unknown and are not the task's; nil without
  /// such an attempt.
  var strangersOfLost: Set<[UInt8]>?

  /// An attempt whose end is unknown may have written a file that is not in `made`.
  func mayBeOfLost(_ path: [UInt8]) -> Bool { strangersOfLost.map { !$0.contains(path) } ?? false }
}
