/// Draws a frame at the bottom of a terminal over the last one, below text that stays.
///
/// The cursor rests at the start of the frame's first line. It stays there when the window's width
/// changes, whether or not the terminal rewraps the lines, so erasing from the cursor (ECMA-48, ED)
/// removes exactly the frame.
///
/// Each write is one update for terminals with DEC mode 2026; others ignore it. If the last frame
/// has not moved, its lines are overwritten in place, and only what is longer than the new ones is
/// erased (EL, ED). The cursor is hidden (DECTCEM) while it moves. Lines do not wrap (DECAWM) while
/// a frame is drawn: the window may already be narrower than its last known size.
struct LiveScreen {
  var size: TerminalSize {
    didSet { if size != oldValue { isMoved = true } }
  }
  private var shown: [StyledLine] = []
  private var shownLines: Int { shown.count }
  /// Whether the lines of the last frame may have moved.
  private var isMoved = false

  init(size: TerminalSize) { self.size = size }

  /// - Parameters:
  ///   - lasting: whole lines.
  ///   - frame: empty for none.
  ///   - signal: a sequence that neither moves the cursor nor prints anything.
  mutating func write(
    lasting: [UInt8], frame: [StyledLine], signal: String = "", palette: Palette,
    into text: inout TextBuffer
  ) {
    text.add(signal)
    if shownLines == 0, frame.isEmpty {
      text.add(lasting)
      return
    }
    // The frame is on the screen already.
    if lasting.isEmpty, !isMoved, frame == shown { return }
    text.add("\u{1b}[?2026h\u{1b}[?25l")
    // The echo of a key may have moved the cursor.
    if shownLines > 0 { text.add("\r") }
    let isErased = !lasting.isEmpty || frame.isEmpty || isMoved
    if isErased { text.add(Self.eraseBelow) }
    text.add(lasting)
    if !frame.isEmpty { draw(frame, palette, isErased: isErased, into: &text) }
    text.add("\u{1b}[?25h\u{1b}[?2026l")
    shown = frame
    isMoved = false
  }

  /// Erases from the start of a line to the end of the screen (ED). ED starts in the second column:
  /// in the first one of the top line, tmux takes it for clearing the screen and moves the frame
  /// into the scrollback.
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

  /// Forgets the frame after another program wrote to the terminal.
  mutating func forget() { shown = [] }
}
