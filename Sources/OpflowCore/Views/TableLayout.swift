/// The columns of a table for people: two spaces apart, as wide as their widest cell. A column with
/// nothing but its title is left out. All rows are measured before the first is written.
struct TableLayout {
  private let titles: [String]
  private var widths: [Int]
  private let rightAligned: Set<Int>

  init(_ titles: [String], rightAligned: Set<Int> = []) {
    self.titles = titles
    self.rightAligned = rightAligned
    widths = titles.map { _ in 0 }
  }

  var columnCount: Int { titles.count }

  /// Makes room for a cell.
  mutating func measure(_ cell: String, in column: Int) {
    widths[column] = max(widths[column], TextWidth.of(cell))
  }

  /// Makes room for cells that take no more columns than that.
  mutating func measure(width: Int, in column: Int) {
    widths[column] = max(widths[column], width)
  }

  func writeTitles(into text: inout TextBuffer, palette: Palette) {
    write(titles, into: &text) { palette.dim($1) }
  }

  /// `paint` colours a cell, given its column and its text, once its width is settled.
  func write(
    _ cells: [String], into text: inout TextBuffer,
    paint: (_ column: Int, _ cell: String) -> String = { $1 }
  ) {
    let filled = titles.indices.last { widths[$0] > 0 && !cells[$0].isEmpty }
    var isFirst = true
    for column in titles.indices where widths[column] > 0 {
      // At least one column, also of a row of nothing.
      if column > filled ?? column { break }
      let cell = cells[column]
      let isRight = rightAligned.contains(column)
      let isLast = column == filled ?? column
      if !isFirst { text.add("  ") }
      isFirst = false
      let width = max(widths[column], titles[column].count)
      let padding = isRight || !isLast ? max(0, width - TextWidth.of(cell)) : 0
      if isRight { text.addBlanks(padding) }
      if !cell.isEmpty { text.add(paint(column, cell)) }
      if !isRight { text.addBlanks(padding) }
      if filled == nil { break }
    }
    text.endLine()
  }
}
