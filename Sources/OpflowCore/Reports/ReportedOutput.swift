/// The end of what a task printed, as a report shows it.
package struct ReportedOutput: Sendable {
  let bytes: [UInt8]
  /// All that the task printed, other tries included.
  let totalBytes: Int64
  /// Of the log, for a person.
  let path: String

  package init(bytes: [UInt8], totalBytes: Int64, path: String) {
    self.bytes = bytes
    self.totalBytes = totalBytes
    self.path = path
  }

  /// What of it is that try's, from the beginning of a line on where there is one.
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

/// Gives the last bytes of a task's log, at most so many; nil where there is none.
package typealias OutputSource = (TaskID, _ mostBytes: Int) -> ReportedOutput?
