/// A terminal as far as opflow uses one (ECMA-48 and DECTCEM): takes bytes and holds the visible
/// text. Unknown sequences are errors of the program under test.
package struct Screen {
  package private(set) var columns: Int
  package private(set) var rows: Int
  /// All lines so far, including those above the screen. Each cell has a character, or is empty if
  /// a wide character covers it.
  private var lines: [[String]] = [[]]
  /// Lines that the terminal wrapped into the next one.
  private var wrapped: Set<Int> = []
  private var row = 0
  private var column = 0
  /// The last column was filled, so the next character starts a line.
  private var wraps = false
  package private(set) var isCursorVisible = true
  /// True if long lines are wrapped.
  private var wrapsLines = true
  /// Inside a synchronized update (DEC mode 2026).
  package private(set) var isSynchronized = false
  /// Invisible strings (ECMA-48, OSC), without their delimiters.
  package private(set) var signals: [String] = []
  /// Unknown sequences.
  package private(set) var unknown: [String] = []
  private var pending: [Unicode.Scalar] = []

  package init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
  }

  /// The lines without trailing spaces, and without empty lines at the end.
  package var text: [String] {
    var shown = lines.map { line in
      var text = line.joined()
      while text.hasSuffix(" ") { text.removeLast() }
      return text
    }
    while shown.last == "" { shown.removeLast() }
    return shown
  }

  /// The cursor's line and column, from 0.
  package var cursor: (row: Int, column: Int) { (row, column) }

  /// - Parameter bytes: complete characters.
  package mutating func write(_ bytes: some Sequence<UInt8>) {
    for scalar in String(decoding: Array(bytes), as: UTF8.self).unicodeScalars { write(scalar) }
  }

  private mutating func write(_ scalar: Unicode.Scalar) {
    if !pending.isEmpty {
      pending.append(scalar)
      if pending.count > 1, pending[1] == "]" { return endString() }
      let isEnd = pending.count > 2 && (0x40...0x7E).contains(scalar.value)
      if isEnd || pending.count == 2 && scalar != "[" {
        apply(pending)
        pending = []
      }
      return
    }
    switch scalar {
    case "\u{1b}": pending = [scalar]
    case "\r": move(to: 0)
    case "\n":
      nextLine()
      move(to: 0)
    default: put(scalar)
    }
  }

  private mutating func endString() {
    guard pending.suffix(2) == ["\u{1b}", "\\"] else { return }
    signals.append(String(String.UnicodeScalarView(pending.dropFirst(2).dropLast(2))))
    pending = []
  }

  private mutating func move(to column: Int) {
    self.column = column
    wraps = false
  }

  private mutating func nextLine() {
    row += 1
    if row == lines.count { lines.append([]) }
    wraps = false
  }

  private mutating func put(_ scalar: Unicode.Scalar) {
    let width = Self.width(scalar)
    if width == 0 {
      if column > 0, !lines[row].isEmpty { lines[row][column - 1].unicodeScalars.append(scalar) }
      return
    }
    if wraps || column + width > columns {
      if wrapsLines {
        wrapped.insert(row)
        nextLine()
        column = 0
      } else {
        column = max(0, columns - width)
        if lines[row].count > column { lines[row].removeLast(lines[row].count - column) }
      }
    }
    while lines[row].count < column + width { lines[row].append(" ") }
    lines[row][column] = String(Character(scalar))
    if width == 2 { lines[row][column + 1] = "" }
    column += width
    if column >= columns {
      column = columns - 1
      wraps = wrapsLines
    }
  }

  private static func width(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.value {
    case 0x300...0x36F, 0x200D, 0xFE0F: 0
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xFF01...0xFF60, 0x1F300...0x1F64F: 2
    default: 1
    }
  }

  private mutating func apply(_ sequence: [Unicode.Scalar]) {
    let text = String(String.UnicodeScalarView(sequence))
    let number = Int(String(String.UnicodeScalarView(sequence.dropFirst(2).dropLast())))
    switch (text, sequence.last) {
    case ("\u{1b}[?25l", _): isCursorVisible = false
    case ("\u{1b}[?25h", _): isCursorVisible = true
    case ("\u{1b}[?2026h", _): isSynchronized = true
    case ("\u{1b}[?2026l", _): isSynchronized = false
    case ("\u{1b}[?7l", _): wrapsLines = false
    case ("\u{1b}[?7h", _): wrapsLines = true
    case (_, "A"):
      row = max(top, row - (number ?? 1))
      wraps = false
    case ("\u{1b}[K", _): eraseLine()
    case (_, "C"):
      column = min(columns - 1, column + (number ?? 1))
      wraps = false
    case ("\u{1b}[J", _):
      // tmux would move the screen's text to its scrollback.
      if row == top, column == 0 { unknown.append("ED of the whole screen") }
      eraseLine()
      lines.removeLast(lines.count - row - 1)
      wrapped = wrapped.filter { $0 < row }
    case (_, "m"): break
    default: unknown.append(text)
    }
  }

  private mutating func eraseLine() {
    if lines[row].count > column { lines[row].removeLast(lines[row].count - column) }
    wrapped.remove(row)
    wraps = false
  }

  /// The uppermost line on the screen; the cursor cannot go above it.
  private var top: Int { max(0, lines.count - rows) }

  /// Resizes the window.
  ///
  /// - Parameter reflows: joins lines and wraps them at the new width, like most terminals; else
  /// cuts them, like xterm.
  package mutating func resize(columns: Int, rows: Int, reflows: Bool = true) {
    if reflows { reflow(to: columns) } else { cut(to: columns) }
    while lines.count <= row { lines.append([]) }
    self.columns = columns
    self.rows = rows
    wraps = false
  }

  private mutating func cut(to columns: Int) {
    for index in top..<lines.count { lines[index] = Array(lines[index].prefix(columns)) }
    column = min(column, columns - 1)
    wrapped = []
  }

  private mutating func reflow(to columns: Int) {
    var new: [[String]] = []
    var joins: Set<Int> = []
    var place = (row: row, column: column)
    var index = 0
    while index < lines.count {
      var whole: [String] = []
      var cursor: Int?
      while true {
        if index == row { cursor = whole.count + column }
        whole += lines[index]
        guard wrapped.contains(index), index + 1 < lines.count else { break }
        index += 1
      }
      index += 1
      let first = new.count
      var rest = whole[...]
      repeat {
        new.append(Array(rest.prefix(columns)))
        rest = rest.dropFirst(columns)
        if !rest.isEmpty { joins.insert(new.count - 1) }
      } while !rest.isEmpty
      if let cursor { place = (first + cursor / columns, cursor % columns) }
    }
    (lines, wrapped, row, column) = (new, joins, place.row, place.column)
  }
}
