/// Boolean properties of a task.
package struct TaskFlags: OptionSet, Sendable {
  package var rawValue: UInt16
  package init(rawValue: UInt16) { self.rawValue = rawValue }

  /// Faster than the inherited one, which other modules call through a witness table.
  @inlinable
  package func contains(_ other: TaskFlags) -> Bool { rawValue & other.rawValue == other.rawValue }

  package static let finally = TaskFlags(rawValue: 1 << 0)
  /// `if` is false: the task is skipped.
  package static let conditionFalse = TaskFlags(rawValue: 1 << 1)
  /// `allow_failure: true`. Lists of codes are in the plan's code lists.
  package static let allowAnyFailure = TaskFlags(rawValue: 1 << 2)
  package static let failWhenInterrupted = TaskFlags(rawValue: 1 << 3)

  /// Stands for a matrix without matrix tasks. With `conditionFalse` it is empty and skipped;
  /// without, the task is a generator (`makesLegs`).
  package static let emptyMatrix = TaskFlags(rawValue: 1 << 4)
  /// `manual: true`: runs only if named or needed.
  package static let manual = TaskFlags(rawValue: 1 << 5)
  /// `interactive: true`: has the terminal while it runs.
  package static let interactive = TaskFlags(rawValue: 1 << 6)
  /// `control: true`: its processes may control the run.
  package static let control = TaskFlags(rawValue: 1 << 7)

  /// Has its own folder for values: other tasks read them, or the task refers to the folder.
  package static let leavesValues = TaskFlags(rawValue: 1 << 8)
  /// An `if` may read its values.
  package static let decidesOthers = TaskFlags(rawValue: 1 << 9)
  /// Some of its properties are evaluated when it starts.
  package static let readsValues = TaskFlags(rawValue: 1 << 10)
  /// `if` reads values, and is evaluated when all dependencies have ended.
  package static let lateCondition = TaskFlags(rawValue: 1 << 11)

  /// Has `inputs`, and is skipped if nothing has changed.
  package static let checked = TaskFlags(rawValue: 1 << 12)
  /// Has `outputs`, or is a download.
  package static let declaresOutputs = TaskFlags(rawValue: 1 << 13)
  /// `cache: true`: its outputs are stored and restored instead of running it.
  package static let cached = TaskFlags(rawValue: 1 << 14)

  /// Runs as long as its dependents, without an end of its own.
  package static let service = TaskFlags(rawValue: 1 << 15)

  /// Whether it is a generator: after the task that `after` in its `matrix` names, it adds the
  /// matrix tasks to the run.
  package var makesLegs: Bool { contains(.emptyMatrix) && !contains(.conditionFalse) }

  /// The task has an entry in the plan's declarations.
  static let declares: TaskFlags = [.checked, .declaresOutputs]

  /// Flags that an approval cannot have.
  static let notOfGates: TaskFlags = [
    .finally, .failWhenInterrupted, .interactive, .control, .checked, .declaresOutputs,
    .cached, .service,
  ]

  /// Flags that an external task cannot have.
  static let notOfBlocks: TaskFlags = [
    .finally, .interactive, .control, .checked, .declaresOutputs, .cached, .service,
  ]

  /// Flags that a service cannot have.
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
