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
}
