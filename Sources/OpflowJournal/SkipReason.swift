internal import OpflowBase
package import OpflowPlan

package enum SkipReason: Equatable, Sendable {
  case condition
  /// The `matrix`.
  case emptyMatrix
  case skipOption
  case order
  /// A service that no task used.
  case unused
  /// The generator that added it is tried again.
  case withdrawn
  /// This dependency failed or was skipped; `none` if the plan no longer has it.
  case upstream(TaskID)

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
