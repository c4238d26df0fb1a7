extension JournalReader {
  /// How many tasks the run's plan has by the last intact line that says so, without a look at what stands before
  /// that; nil where none does.
  package static func taskCount(atEndOf bytes: UnsafeRawBufferPointer) -> Int? {
    guard let window = ByteWindow(bytes) else { return nil }
    var end = bytes.count
    var pieceBytes = 1 << 20
    while end > 0 {
      var start = max(0, end - pieceBytes)
      if start > 0 { start = window.position(of: Field.lineFeed, from: start - 1, to: end) + 1 }
      if start >= end {
        // No line begins there.
        pieceBytes *= 2
        continue
      }
      if let count = lastTaskCount(window, start..<end) { return count }
      end = start
    }
    return nil
  }

  /// - Parameter piece: whole lines.
  private static func lastTaskCount(_ bytes: ByteWindow, _ piece: Range<Int>) -> Int? {
    var last: Int?
    var position = piece.lowerBound
    while position < piece.upperBound {
      var end = position
      if let line = JournalLine(in: bytes, at: position, end: &end),
        line.event == .extend || line.event == .resume, let count = line.taskCount
      {
        last = count
      }
      position = end + 1
    }
    return last
  }
}
