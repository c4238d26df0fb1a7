/// Why a drive runs a task that an earlier one left in some state, or did not have.
package enum RerunReason: Equatable, Sendable {
  case interrupted
  /// Its definition, in this part as far as that is known.
  case changed(Fingerprint.Part?)
  /// This task runs again, or has run since; `none` where the plan no longer has it.
  case afterRerun(TaskID)
  case failedBefore
  case skippedBefore
  /// Somebody cancelled it before it began.
  case cancelledBefore
  case outputMissing
  /// Its inputs, or what became of its outputs.
  case inputs
  /// The journal is damaged where a line may have stood that took its result back.
  case unproven
  case asked
  /// A service is no result: it starts again when something needs it.
  case service
  case new

  /// The word in the journal.
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
