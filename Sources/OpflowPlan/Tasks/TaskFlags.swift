package struct TaskFlags: OptionSet, Sendable {
  package var rawValue: UInt16
  package init(rawValue: UInt16) { self.rawValue = rawValue }

  /// Faster than the inherited one, which other modules call through a witness table.
  @inlinable
  package func contains(_ other: TaskFlags) -> Bool { rawValue & other.rawValue == other.rawValue }

  package static let finally = TaskFlags(rawValue: 1 << 0)
  /// The task is skipped.
  package static let conditionFalse = TaskFlags(rawValue: 1 << 1)
  /// Lists of codes are in the plan's code lists.
  package static let allowAnyFailure = TaskFlags(rawValue: 1 << 2)
  package static let failWhenInterrupted = TaskFlags(rawValue: 1 << 3)

  /// Stands for a matrix without matrix tasks. With `conditionFalse` it is empty and skipped;
  /// without, the task is a generator (`makesLegs`).
  package static let emptyMatrix = TaskFlags(rawValue: 1 << 4)
  /// Runs only if named or needed.
  package static let manual = TaskFlags(rawValue: 1 << 5)
  /// Has the terminal while it runs.
  package static let interactive = TaskFlags(rawValue: 1 << 6)
  /// Its processes may control the run.
  package static let control = TaskFlags(rawValue: 1 << 7)

  /// Has a folder for values: other tasks read them, or the task refers to the folder.
  package static let leavesValues = TaskFlags(rawValue: 1 << 8)
  /// An `if` may read its values.
  package static let decidesOthers = TaskFlags(rawValue: 1 << 9)
  /// Some properties are evaluated when it starts.
  package static let readsValues = TaskFlags(rawValue: 1 << 10)
  /// `if` is evaluated when all dependencies have ended.
  package static let lateCondition = TaskFlags(rawValue: 1 << 11)

  /// Has `inputs`, and is skipped if nothing has changed.
  package static let checked = TaskFlags(rawValue: 1 << 12)
  /// Or is a download.
  package static let declaresOutputs = TaskFlags(rawValue: 1 << 13)
  /// Outputs are stored, and restored instead of running it.
  package static let cached = TaskFlags(rawValue: 1 << 14)

  /// Runs as long as its dependents.
  package static let service = TaskFlags(rawValue: 1 << 15)

  /// A generator adds its matrix tasks to the run after the task that `after` names.
  package var makesLegs: Bool { contains(.emptyMatrix) && !contains(.conditionFalse) }

  /// Has an entry in the plan's declarations.
  static let declares: TaskFlags = [.checked, .declaresOutputs]

  static let notOfGates: TaskFlags = [
    .finally, .failWhenInterrupted, .interactive, .control, .checked, .declaresOutputs,
    .cached, .service,
  ]

  static let notOfBlocks: TaskFlags = [
    .finally, .interactive, .control, .checked, .declaresOutputs, .cached, .service,
  ]

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
