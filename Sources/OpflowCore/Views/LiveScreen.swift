/// The bottom of a terminal, where a frame is drawn over the last one, below text that stays.
///
/// All that is written at once belongs together: where the last frame stands, its lines are
/// overwritten in place, and only what is longer than the new ones is erased (ECMA-48: CUU, EL, ED).
/// The cursor is out of sight (DECTCEM) just while it moves, so nothing has to be put right after a
/// program that was killed. It rests at the end of the last line.
struct LiveScreen {
  var size: TerminalSize
  /// The widths of the lines that stand there.
  private var shown: [Int] = []

  init(size: TerminalSize) { self.size = size }

  /// - Parameters:
  ///   - lasting: whole lines.
  ///   - frame: of no lines for none.
  mutating func write(
    lasting: [UInt8], frame: [StyledLine], palette: Palette, into text: inout TextBuffer
  ) {
    if shown.isEmpty, frame.isEmpty {
      text.add(lasting)
      return
    }
    text.add("\u{1b}[?25l")
    let rows = rows
    if rows > 0 { text.add("\r") }
    if rows > 1 { text.add("\u{1b}[\(rows - 1)A") }
    if !lasting.isEmpty || frame.isEmpty {
      // Lasting lines may wrap, so what they do not cover cannot be told line by line.
      text.add("\u{1b}[J")
      text.add(lasting)
    }
    for (index, line) in frame.enumerated() {
      if index > 0 { text.endLine() }
      text.add(line.text(palette))
      text.add("\u{1b}[K")
    }
    if frame.count < rows, lasting.isEmpty, !frame.isEmpty { text.add("\u{1b}[J") }
    text.add("\u{1b}[?25h")
    shown = frame.map(\.width)
  }

  /// Somebody else has written to the terminal: what stands there is no longer known.
  mutating func forget() { shown = [] }

  /// How many rows the last frame takes: where the terminal has become narrower, it has wrapped the
  /// lines that no longer fit.
  private var rows: Int {
    shown.reduce(0) { $0 + max(1, ($1 + size.columns - 1) / size.columns) }
  }
}
