internal import OpflowBase
internal import OpflowJournal
package import OpflowPlan
internal import OpflowViews

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
    case .failedAllowed, .skipped, .ready, .checking, .prefetched, .running, .suspended:
      self = .skipped
    }
  }

  static func reason(_ task: TaskID, _ status: RunStatus) -> (type: String, message: String) {
    let record = status.history[task]
    switch status.state(task) {
    case .succeeded, .upToDate: return ("", "")
    case .failed: return (word(record.outcome), status.outcome(of: task))
    case .failedAllowed:
      return ("allowed", "failed (allowed): \(status.outcome(of: task))")
    case .cancelled where record.why == .ended(.stopped(.cancel)) || record.attempts == 0:
      return ("cancelled", "cancelled")
    case .cancelled: return ("interrupted", status.outcome(of: task))
    case .skipped:
      return ("skipped", "skipped: \(status.reasonText(status.why(task)))")
    case .waiting where record.isInterrupted:
      return ("interrupted", "interrupted; a resume re-runs it")
    case .waiting where status.awaitsNextTry(task):
      let last = status.triesFailed(task)
      return status.isCut(task)
        ? ("interrupted", "interrupted before its next attempt; a resume re-runs it; \(last)")
        : ("pending", "waits for its next attempt; \(last)")
    case .waiting, .ready, .checking:
      return (
        "pending", "not started: \(status.state == .running ? "it waits" : "the run ended first")"
      )
    case .prefetched, .running, .suspended: return ("running", "still running")
    }
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

package struct ReportedOutput: Sendable {
  let bytes: [UInt8]
  /// The length of the whole output, with earlier attempts.
  let totalBytes: Int64
  let path: String

  package init(bytes: [UInt8], totalBytes: Int64, path: String) {
    self.bytes = bytes
    self.totalBytes = totalBytes
    self.path = path
  }

  /// The attempt's part, from the start of a line if possible.
  func tail(attempt: Int32) -> (bytes: [UInt8], isWhole: Bool) {
    if attempt > 1 {
      let own = AttemptHeader.dropped(before: bytes, attempt: attempt)
      if own.count < bytes.count { return (own, true) }
    }
    if totalBytes <= Int64(bytes.count) { return (bytes, true) }
    guard let end = bytes.firstIndex(of: Field.lineFeed), end + 1 < bytes.count else {
      return (bytes, false)
    }
    return (Array(bytes[(end + 1)...]), false)
  }
}

/// Returns the end of a task's log; nil without a log.
package typealias OutputSource = (TaskID, _ mostBytes: Int) -> ReportedOutput?

/// RFC 3339, UTC.
enum UTCText {
  static func text(milliseconds: Int64) -> String {
    let digits = Array(RunID(seconds: milliseconds / 1000, serial: 0).description)
    func part(_ range: Range<Int>) -> String { String(digits[range]) }
    return "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))"
      + "T\(part(9..<11)):\(part(11..<13)):\(part(13..<15))Z"
  }
}
