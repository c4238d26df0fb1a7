internal import OpflowCore

/// What is known before the start of a task of the files that earlier attempts of it left under its outputs.
struct LeftFiles {
  /// Those that they made, as they left them.
  var made: SeenFiles = []
  /// Of these, the ones that the last attempt did not write again.
  var untouched: Set<[UInt8]> = []
  /// The paths that lay there before an attempt of which nobody saw the end, and are not the task's; nil where
  /// there is no such attempt.
  var strangersOfLost: Set<[UInt8]>?

  /// Whether an attempt of which nobody saw the end may have written a file that is not among `made`.
  func mayBeOfLost(_ path: [UInt8]) -> Bool { strangersOfLost.map { !$0.contains(path) } ?? false }
}
