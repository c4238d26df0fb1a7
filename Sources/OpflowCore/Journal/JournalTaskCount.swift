/// What the last lines of a journal say of the run's plan, without a look at what stands before them.
extension JournalReader {
  /// How many tasks the run's plan has by the last intact line that says so; nil where none does.
  package static func taskCount(atEndOf bytes: UnsafeRawBufferPointer) -> Int? {
    last(in: bytes) { line in
      line.event == .extend || line.event == .resume ? line.taskCount : nil
    }
  }

  /// The key of the plan with which the newest drive began; nil where no line tells.
  package static func planKey(atEndOf bytes: UnsafeRawBufferPointer) -> String? {
    last(in: bytes) { line in
      guard line.event == .open || line.event == .resume else { return nil }
      return line.fields.first { $0.key == .plan }?.text
    }
  }

  /// What the last intact line says of which something is told.
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
        // No line begins there.
        pieceBytes *= 2
        continue
      }
      if let told = last(in: window, start..<end, tell) { return told }
      end = start
    }
    return nil
  }

  /// - Parameter piece: whole lines.
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
