/// The bottom of a terminal, where a frame is drawn over the last one, below text that stays.
///
/// The cursor rests at the beginning of the frame's first line. There it stays when the window changes
/// its width, whether the terminal wraps the lines anew then or not (and whenever it tells of that), so
/// what is erased from there on (ECMA-48, ED) is the frame alone, however many rows it takes by now.
///
/// All that is written at once belongs together, and terminals that can show it at once (DEC mode 2026;
/// others leave that alone): where the last frame stands, its lines are
/// overwritten in place, and only what is longer than the new ones is erased (EL, ED). The cursor is out
/// of sight (DECTCEM) just while it moves, and lines do not wrap (DECAWM) just while a frame is drawn: a
/// window may be narrower by now than its size that was told last.
struct LiveScreen {
  var size: TerminalSize {
    didSet { if size != oldValue { isMoved = true } }
  }
  /// What stands there.
  private var shown: [StyledLine] = []
  private var shownLines: Int { shown.count }
  /// The lines of the last frame may not be where they were drawn.
  private var isMoved = false

  init(size: TerminalSize) { self.size = size }

  /// - Parameters:
  ///   - lasting: whole lines.
  ///   - frame: of no lines for none.
  ///   - signal: what moves no cursor and shows nothing.
  mutating func write(
    lasting: [UInt8], frame: [StyledLine], signal: String = "", palette: Palette,
    into text: inout TextBuffer
  ) {
    text.add(signal)
    if shownLines == 0, frame.isEmpty {
      text.add(lasting)
      return
    }
    // It stands there already.
    if lasting.isEmpty, !isMoved, frame == shown { return }
    text.add("\u{1b}[?2026h\u{1b}[?25l")
    // A key that was pressed may have moved the cursor.
    if shownLines > 0 { text.add("\r") }
    let isErased = !lasting.isEmpty || frame.isEmpty || isMoved
    if isErased { text.add(Self.eraseBelow) }
    text.add(lasting)
    if !frame.isEmpty { draw(frame, palette, isErased: isErased, into: &text) }
    text.add("\u{1b}[?25h\u{1b}[?2026l")
    shown = frame
    isMoved = false
  }

  /// From the beginning of a line on (ED). Not from its first column: in that of the uppermost line
  /// tmux takes the whole screen for cleared, and moves the frame to what can be scrolled back to.
  private static let eraseBelow = "\u{1b}[K\u{1b}[C\u{1b}[J\r"

  private func draw(
    _ frame: [StyledLine], _ palette: Palette, isErased: Bool, into text: inout TextBuffer
  ) {
    text.add("\u{1b}[?7l")
    for (index, line) in frame.enumerated() {
      if index > 0 { text.endLine() }
      text.add(line.text(palette))
      if !isErased { text.add("\u{1b}[K") }
    }
    if !isErased, frame.count < shownLines { text.add("\u{1b}[J") }
    text.add("\u{1b}[?7h\r")
    if frame.count > 1 { text.add("\u{1b}[\(frame.count - 1)A") }
  }

  /// Somebody else has written to the terminal: what stands there is no longer known.
  mutating func forget() { shown = [] }
}
