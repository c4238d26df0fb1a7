internal import OpflowCore

extension RunStatus {
  /// `stopped by SIGTERM`, for a run that was cancelled or interrupted.
  package var stopWords: String {
    guard let close = history.close else { return "cut off: the process that drove it died" }
    if close.exitCode == 74 { return "stopped by an error of input or output" }
    if let record = history.orders.stoppedBy {
      return "stopped by \(CleanText.string(record.asker.text))"
    }
    let reason = history.orders.stopReason
    if !reason.isEmpty { return "stopped: \(CleanText.string(reason))" }
    return close.signal == 0 ? "stopped" : "stopped by \(SignalName.spelled(close.signal))"
  }

  /// Returns the journal's word for the reason, with its subject; nil if the state says it all.
  func reasonWord(_ task: TaskID) -> String? {
    let why = why(task)
    switch why {
    case nil: return nil
    case .rerun(.changed), .rerun(.afterRerun): return words(history[task])
    case .ended, .skipped, .rerun: return why?.word.description
    }
  }

  func words(_ record: TaskRecord) -> String {
    // A task that was taken back unstarted counts as never assigned.
    record.why == .ended(.revoked) ? "" : ReasonText.text(record.why, plan: plan)
  }
}
