/// Why a task was skipped.
package enum SkipReason: Equatable, Sendable {
  /// Its `if` is false.
  case condition
  /// Its `matrix` has no legs.
  case emptyMatrix
  case skipOption
  /// Somebody asked for it while the run went on.
  case order
  /// A service that nothing came to need.
  case unused
  /// The task that added it is tried again.
  case withdrawn
  /// Its needs cannot be met; by this one, which is `none` where the plan no longer has it.
  case upstream(TaskID)

  /// The word in the journal.
  package var word: StaticString {
    switch self {
    case .condition: "if"
    case .emptyMatrix: "empty matrix"
    case .skipOption: "--skip"
    case .order: "order"
    case .unused: "unused"
    case .withdrawn: "withdrawn"
    case .upstream: "upstream"
    }
  }

  init?(word: UnsafeRawBufferPointer, of task: TaskID) {
    let all = [
      SkipReason.condition, .emptyMatrix, .skipOption, .order, .unused, .withdrawn, .upstream(task),
    ]
    guard let reason = all.first(where: { word.equals($0.word) }) else { return nil }
    self = reason
  }

  package var isUpstream: Bool {
    switch self {
    case .upstream: true
    case .condition, .emptyMatrix, .skipOption, .order, .unused, .withdrawn: false
    }
  }
}
