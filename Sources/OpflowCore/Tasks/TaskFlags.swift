/// Yes-or-no properties of a task.
package struct TaskFlags: OptionSet, Sendable {
  package var rawValue: UInt16
  package init(rawValue: UInt16) { self.rawValue = rawValue }

  /// `finally: true`
  package static let finally = TaskFlags(rawValue: 1 << 0)
  /// `if` is false: the task is skipped.
  package static let conditionFalse = TaskFlags(rawValue: 1 << 1)
  /// `allow_failure: true`; a list of codes is in the plan's code lists.
  package static let allowAnyFailure = TaskFlags(rawValue: 1 << 2)
  /// `on_interrupted: fail`
  package static let failWhenInterrupted = TaskFlags(rawValue: 1 << 3)

  /// It stands for a family without legs, and is skipped as if its `if` were false, which it is too.
  package static let emptyMatrix = TaskFlags(rawValue: 1 << 4)
  /// `manual: true`: a run takes it along only when it is named, or needed.
  package static let manual = TaskFlags(rawValue: 1 << 5)

  static let all: TaskFlags = [
    .finally, .conditionFalse, .allowAnyFailure, .failWhenInterrupted, .emptyMatrix, .manual,
  ]
}
