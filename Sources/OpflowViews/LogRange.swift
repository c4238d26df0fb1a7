package import OpflowCore

/// The output of a try as a range of the task's log. A view that shows all of it reads it piece by
/// piece, as fast as its own reader, and never holds all of it.
package struct LogRange: Sendable {
  package let task: TaskID
  /// The try, whose header may stand at the start of the range.
  let attempt: Int32
  /// The bytes that are still to be read.
  package internal(set) var bytes: Range<Int64>
  var isNew = true
  /// The path of the log, as shown to users.
  let path: String
}
