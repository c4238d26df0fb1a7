package import OpflowPlan

/// The reason for a task's state.
package enum Why: Equatable, Sendable {
  case ended(EndReason)
  case skipped(SkipReason)
  case rerun(RerunReason)

  package var word: StaticString {
    switch self {
    case .ended(let reason): reason.word
    case .skipped(let reason): reason.word
    case .rerun(let reason): reason.word
    }
  }

  /// The dependency that failed or runs again.
  package var culprit: TaskID {
    switch self {
    case .skipped(.upstream(let task)), .rerun(.afterRerun(let task)): task
    case .ended, .skipped(.condition), .skipped(.emptyMatrix), .skipped(.skipOption),
      .skipped(.order), .skipped(.unused), .skipped(.withdrawn), .rerun:
      .none
    }
  }

  package var changedPart: Fingerprint.Part? {
    switch self {
    case .rerun(.changed(let part)): part
    case .ended, .skipped, .rerun: nil
    }
  }

  package var endReason: EndReason? {
    if case .ended(let reason) = self { reason } else { nil }
  }

  package var skipReason: SkipReason? {
    if case .skipped(let reason) = self { reason } else { nil }
  }
}
