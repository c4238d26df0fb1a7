internal import OpflowBase

/// The line before a later attempt in a task's log. Progress output omits it.
package enum AttemptHeader {
  /// With the line feed.
  package static func line(_ attempt: Int32) -> String { "--- attempt \(attempt) ---\n" }

  package static func dropped(
    from bytes: UnsafeRawBufferPointer, attempt: Int32
  ) -> UnsafeRawBufferPointer {
    let header = line(attempt).utf8
    // If the last attempt ended within a line, a line feed precedes the header.
    let skipped = bytes.first == Field.lineFeed ? 1 : 0
    guard bytes.dropFirst(skipped).starts(with: header) else { return bytes }
    return UnsafeRawBufferPointer(rebasing: bytes[(skipped + header.count)...])
  }

  package static func dropped(atBeginningOf bytes: [UInt8], attempt: Int32) -> [UInt8] {
    let rest = bytes.withUnsafeBytes { dropped(from: $0, attempt: attempt).count }
    return rest == bytes.count ? bytes : Array(bytes.suffix(rest))
  }

  /// For the end of a log with several attempts.
  package static func dropped(before bytes: [UInt8], attempt: Int32) -> [UInt8] {
    let header = Array(line(attempt).utf8)
    var start = bytes.startIndex
    while start < bytes.endIndex {
      if bytes[start...].starts(with: header) { return Array(bytes[(start + header.count)...]) }
      guard let end = bytes[start...].firstIndex(of: Field.lineFeed) else { break }
      start = end + 1
    }
    return bytes
  }
}
