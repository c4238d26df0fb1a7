/// What a try printed, as its place in the task's log: a view that shows all of it reads it piece by piece, as
/// somebody reads the view, and never holds it.
package struct LogRange: Sendable {
  package let task: TaskID
  /// Of the try, whose header may stand at the beginning.
  let attempt: Int32
  /// What is to be read next, and where that ends.
  package internal(set) var bytes: Range<Int64>
  /// Nothing of it was read yet.
  var isNew = true
  /// The path of the log, for a person.
  let path: String
}
