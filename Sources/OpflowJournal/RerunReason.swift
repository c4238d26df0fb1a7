internal import OpflowBase
package import OpflowPlan

/// Why a session runs a task again, or for the first time.
package enum RerunReason: Equatable, Sendable {
  case interrupted
  case changed(Fingerprint.Part?)
  /// This dependency runs again or has run since; `none` if the plan no longer has it.
  case afterRerun(TaskID)
  case failedBefore
  case skippedBefore
  case cancelledBefore
  case outputMissing
  case inputs
  /// A damaged line may have discarded the result.
  case unproven
  case asked
  /// A service has no result: it starts again when a task depends on it.
  case service
  case new

  package var word: StaticString {
    switch self {
    case .interrupted: "interrupted"
    case .changed: "changed"
    case .afterRerun: "after rerun"
    case .failedBefore: "failed before"
    case .skippedBefore: "skipped before"
    case .cancelledBefore: "cancelled before"
    case .outputMissing: "output missing"
    case .inputs: "inputs"
    case .unproven: "unproven"
    case .asked: "asked"
    case .service: "service"
    case .new: "new"
    }
  }

  init?(word: UnsafeRawBufferPointer, part: Fingerprint.Part?, of task: TaskID) {
    let all = [
      RerunReason.interrupted, .changed(part), .afterRerun(task), .failedBefore, .skippedBefore,
      .cancelledBefore, .outputMissing, .inputs, .unproven, .asked, .service,
      .new,
    ]
    guard let reason = all.first(where: { word.equals($0.word) }) else { return nil }
    self = reason
  }
}
