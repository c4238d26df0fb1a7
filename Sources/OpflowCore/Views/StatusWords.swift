/// Why tasks are in their states, in words.
extension RunStatus {
  /// In the journal's words, with what they speak of; nil where the state says it all.
  func reasonWord(_ task: TaskID) -> String? {
    let reason = reason(task)
    switch reason {
    case .none: return nil
    case .changed, .afterRerun: return words(history[task])
    case .timeout, .refused, .output, .fetch, .fetchFinal, .workerLost, .interrupted, .revoked,
      .cancel, .signal, .kill, .condition, .skipOption, .upstream, .failedBefore, .skippedBefore,
      .outputMissing, .asked, .unproven, .new:
      return reason.text
    }
  }

  /// The reason of a record for people.
  func words(_ record: TaskRecord) -> String {
    ReasonText.text(
      record.reason, culprit: record.culprit, part: record.changedPart, plan: plan)
  }
}
