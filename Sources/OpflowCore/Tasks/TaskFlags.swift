/// Yes-or-no properties of a task.
package struct TaskFlags: OptionSet, Sendable {
  package var rawValue: UInt16
  package init(rawValue: UInt16) { self.rawValue = rawValue }

  /// As every option set has it; of its own, since other modules ask for it through a table otherwise.
  @inlinable
  package func contains(_ other: TaskFlags) -> Bool { rawValue & other.rawValue == other.rawValue }

  /// `finally: true`
  package static let finally = TaskFlags(rawValue: 1 << 0)
  /// `if` is false: the task is skipped.
  package static let conditionFalse = TaskFlags(rawValue: 1 << 1)
  /// `allow_failure: true`; a list of codes is in the plan's code lists.
  package static let allowAnyFailure = TaskFlags(rawValue: 1 << 2)
  /// `on_interrupted: fail`
  package static let failWhenInterrupted = TaskFlags(rawValue: 1 << 3)

  /// It stands for a family without legs, and is skipped as if its `if` were false, which it is too; without that
  /// (`makesLegs`) the legs are still to be made.
  package static let emptyMatrix = TaskFlags(rawValue: 1 << 4)
  /// `manual: true`: a run takes it along only when it is named, or needed.
  package static let manual = TaskFlags(rawValue: 1 << 5)
  /// `interactive: true`: it has the terminal for itself while it runs.
  package static let interactive = TaskFlags(rawValue: 1 << 6)
  /// `control: true`: what it runs may steer the run that it belongs to.
  package static let control = TaskFlags(rawValue: 1 << 7)

  /// It has a folder of its own for values: somebody reads them, or it speaks of the folder.
  package static let leavesValues = TaskFlags(rawValue: 1 << 8)
  /// An `if` may read its values.
  package static let decidesOthers = TaskFlags(rawValue: 1 << 9)
  /// Some of it is evaluated when it starts.
  package static let readsValues = TaskFlags(rawValue: 1 << 10)
  /// `if` reads values, and is decided when all that the task needs has ended.
  package static let lateCondition = TaskFlags(rawValue: 1 << 11)

  /// It has `inputs`, and is skipped where neither these nor anything else has changed.
  package static let checked = TaskFlags(rawValue: 1 << 12)
  /// It has `outputs`, or is a download.
  package static let declaresOutputs = TaskFlags(rawValue: 1 << 13)
  /// `cache: true`: what it leaves is kept, and brought back instead of running it.
  package static let cached = TaskFlags(rawValue: 1 << 14)

  /// It does not end by itself, and runs for as long as what needs it.
  package static let service = TaskFlags(rawValue: 1 << 15)

  /// It makes the legs of a family when a task of it has succeeded (`after` in a `matrix`), and adds them to the run.
  package var makesLegs: Bool { contains(.emptyMatrix) && !contains(.conditionFalse) }

  /// The plan has something that the task declares.
  static let declares: TaskFlags = [.checked, .declaresOutputs]

  /// What makes no sense of a question.
  static let notOfGates: TaskFlags = [
    .finally, .failWhenInterrupted, .interactive, .control, .checked, .declaresOutputs,
    .cached, .service,
  ]

  /// What makes no sense of what a program does.
  static let notOfBlocks: TaskFlags = [
    .finally, .interactive, .control, .checked, .declaresOutputs, .cached, .service,
  ]

  /// What makes no sense of a task that does not end by itself.
  static let notOfServices: TaskFlags = [
    .finally, .allowAnyFailure, .failWhenInterrupted, .interactive, .checked, .declaresOutputs,
    .cached,
  ]

  static let all: TaskFlags = [
    .finally, .conditionFalse, .allowAnyFailure, .failWhenInterrupted, .emptyMatrix, .manual,
    .interactive, .control, .leavesValues, .decidesOthers, .readsValues, .lateCondition,
    .checked, .declaresOutputs, .cached, .service,
  ]
}
