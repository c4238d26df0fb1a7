internal import OpflowCore
internal import OpflowViews

/// A task in a test report.
enum TaskVerdict {
  case passed, failure, error, skipped

  init(_ task: TaskID, _ status: RunStatus) {
    let record = status.history[task]
    switch status.state(task) {
    case .succeeded, .upToDate: self = .passed
    case .failed:
      self =
        record.why == .ended(.interrupted) || record.why == .ended(.workerLost) ? .error : .failure
    case .cancelled: self = record.attempts > 0 ? .error : .skipped
    case .waiting: self = record.isInterrupted || status.isCut(task) ? .error : .skipped
    case .failedAllowed, .skipped, .ready, .checking, .handed, .running, .suspended: self = .skipped
    }
  }

  /// Type and message of what did not pass.
  static func reason(_ task: TaskID, _ status: RunStatus) -> (type: String, message: String) {
    let record = status.history[task]
    switch status.state(task) {
    case .succeeded, .upToDate: return ("", "")
    case .failed: return (word(record), EndReasons(status).outcome(task))
    case .failedAllowed:
      return ("allowed", "failed, which allow_failure covers: \(EndReasons(status).outcome(task))")
    case .cancelled where record.why == .ended(.stopped(.cancel)) || record.attempts == 0:
      return ("cancelled", "cancelled")
    case .cancelled: return ("interrupted", EndReasons(status).outcome(task))
    case .skipped: return ("skipped", "skipped: \(ReasonText.text(record.why, plan: status.plan))")
    case .waiting where record.isInterrupted:
      return ("interrupted", "interrupted; a resume runs it again")
    case .waiting where status.awaitsNextTry(task):
      let tries = EndReasons(status).triesFailed(task)
      return status.isCut(task)
        ? ("interrupted", "interrupted before its next try; a resume runs it again; \(tries)")
        : ("pending", "waits for its next try; \(tries)")
    case .waiting, .ready, .checking:
      return (
        "pending", "not started: \(status.state == .running ? "it waits" : "the run ended before")"
      )
    case .handed, .running, .suspended: return ("running", "it is still running")
    }
  }

  static func word(_ record: TaskRecord) -> String {
    word(Outcome(status: record.status, reason: record.why?.endReason))
  }

  static func word(_ outcome: Outcome) -> String {
    if let reason = outcome.reason { return reason.word.description }
    switch outcome.status {
    case .unknown: return "unknown"
    case .exit: return "exit"
    case .signal: return "signal"
    }
  }
}
