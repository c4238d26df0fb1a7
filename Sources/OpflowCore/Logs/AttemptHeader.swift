/// The line that separates a later try from those before it in a task's log. Progress leaves it out,
/// since the start of the try is told there.
package enum AttemptHeader {
  /// Ended by a line feed.
  package static func line(_ attempt: Int32) -> String { "--- attempt \(attempt) ---\n" }

  /// What follows the header, where the bytes begin with it.
  static func dropped(
    from bytes: UnsafeRawBufferPointer, attempt: Int32
  ) -> UnsafeRawBufferPointer {
    let header = line(attempt).utf8
    // A line that the try before left without an end is ended first.
    let skipped = bytes.first == Field.lineFeed ? 1 : 0
    guard bytes.dropFirst(skipped).starts(with: header) else { return bytes }
    return UnsafeRawBufferPointer(rebasing: bytes[(skipped + header.count)...])
  }

  static func dropped(atBeginningOf bytes: [UInt8], attempt: Int32) -> [UInt8] {
    let rest = bytes.withUnsafeBytes { dropped(from: $0, attempt: attempt).count }
    return rest == bytes.count ? bytes : Array(bytes.suffix(rest))
  }

  /// What follows the header, where it is a line of the bytes: the end of a log, with more than one try in it.
  static func dropped(before bytes: [UInt8], attempt: Int32) -> [UInt8] {
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
