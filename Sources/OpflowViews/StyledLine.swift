/// A line of pieces in different colors that can be cut to a width before it is painted.
struct StyledLine: Equatable {
  enum Style { case plain, dim, cyan, green, yellow, red }

  private var pieces: [(text: String, style: Style)] = []
  /// In columns.
  private(set) var width = 0

  static func == (one: StyledLine, other: StyledLine) -> Bool {
    one.pieces.elementsEqual(other.pieces, by: ==)
  }

  mutating func add(_ text: String, _ style: Style = .plain) {
    if text.isEmpty { return }
    pieces.append((text, style))
    width += TextWidth.of(text)
  }

  mutating func append(_ other: StyledLine) {
    pieces += other.pieces
    width += other.width
  }

  /// Returns the start of the line, at most `columns` wide, with an ellipsis if it is cut.
  func cut(to columns: Int) -> StyledLine {
    if width <= columns { return self }
    var line = StyledLine()
    for piece in pieces {
      let room = columns - line.width
      let isLast = TextWidth.of(piece.text) >= room
      // The ellipsis needs a column even if a piece fits exactly.
      let text = isLast ? TextWidth.cut(piece.text + "…", to: room) : piece.text
      line.add(text, piece.style)
      if isLast { break }
    }
    return line
  }

  func text(_ palette: Palette) -> String {
    pieces.map { piece in
      switch piece.style {
      case .plain: piece.text
      case .dim: palette.dim(piece.text)
      case .cyan: palette.cyan(piece.text)
      case .green: palette.green(piece.text)
      case .yellow: palette.yellow(piece.text)
      case .red: palette.red(piece.text)
      }
    }.joined()
  }
}
