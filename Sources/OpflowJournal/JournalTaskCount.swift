internal import OpflowBase

/// Reads backwards from the end of a journal.
extension JournalReader {
  /// By the last intact line that tells it.
  package static func taskCount(atEndOf bytes: UnsafeRawBufferPointer) -> Int? {
    last(in: bytes) { line in
      line.event == .extend || line.event == .resume ? line.taskCount : nil
    }
  }

  package static func planKey(atEndOf bytes: UnsafeRawBufferPointer) -> String? {
    last(in: bytes) { line in
      guard line.event == .open || line.event == .resume else { return nil }
      return line.fields.first { $0.key == .plan }?.text
    }
  }

  private static func last<Told>(
    in bytes: UnsafeRawBufferPointer, _ tell: (JournalLine) -> Told?
  ) -> Told? {
    guard let window = ByteWindow(bytes) else { return nil }
    var end = bytes.count
    var pieceBytes = 1 << 20
    while end > 0 {
      var start = max(0, end - pieceBytes)
      if start > 0 { start = window.position(of: Field.lineFeed, from: start - 1, to: end) + 1 }
      if start >= end {
        // The piece is shorter than its last line.
        pieceBytes *= 2
        continue
      }
      if let told = last(in: window, start..<end, tell) { return told }
      end = start
    }
    return nil
  }

  private static func last<Told>(
    in bytes: ByteWindow, _ piece: Range<Int>, _ tell: (JournalLine) -> Told?
  ) -> Told? {
    var last: Told?
    var position = piece.lowerBound
    var numbers = LineNumbers()
    while position < piece.upperBound {
      var end = position
      if let line = JournalLine(in: bytes, at: position, end: &end, &numbers), let told = tell(line)
      {
        last = told
      }
      position = end + 1
    }
    return last
  }
}
