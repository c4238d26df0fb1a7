package import OpflowCore

/// The end of a task's output.
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

/// Returns up to `mostBytes` from the end of a task's log; nil without one.
package typealias OutputSource = (TaskID, _ mostBytes: Int) -> ReportedOutput?
