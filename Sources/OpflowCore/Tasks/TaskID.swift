/// The number of a task within its plan: its position in the order of the manifest.
///
/// A million tasks are a normal plan, so ids are 32 bits wide and index columns directly.
package struct TaskID: Hashable, Comparable, Sendable, BitwiseCopyable {
  package var rawValue: Int32

  package init(_ rawValue: Int32) { self.rawValue = rawValue }
  package init(_ index: Int) { self.rawValue = Int32(truncatingIfNeeded: index) }

  /// Stands where a record speaks of no task.
  package static let none = TaskID(Int32(-1))

  package var index: Int { Int(rawValue) }
  package var isNone: Bool { rawValue < 0 }

  package static func < (a: TaskID, b: TaskID) -> Bool { a.rawValue < b.rawValue }
}

/// When an edge of the graph is met; `on:` of an entry in `needs`.
package enum NeedCondition: UInt8, Sendable, CaseIterable {
  /// Met by success, up to date, an allowed failure, a false `if` and `--skip`.
  case success
  /// Met by a failure that is not allowed, a timeout too.
  case failure
  /// Met by any end.
  case finished
}

/// What a task does.
package enum ActionKind: UInt8, Sendable {
  /// A string for the task's shell.
  case shell
  /// A list of words, executed as it stands.
  case command
  /// A file to fetch.
  case download
}

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

  static let all: TaskFlags = [.finally, .conditionFalse, .allowAnyFailure, .failWhenInterrupted]
}
