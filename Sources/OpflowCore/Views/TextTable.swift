/// A table for people: columns two spaces apart, as wide as their widest cell. A column with nothing
/// but its title is left out.
struct TextTable {
  private let titles: [String]
  // The cells of all rows one after the other: a million rows of strings would take ten times that.
  private var bytes: [UInt8] = []
  private var ends: [Int] = []
  private var widths: [Int]
  private let rightAligned: Set<Int>

  init(_ titles: [String], rightAligned: Set<Int> = []) {
    self.titles = titles
    self.rightAligned = rightAligned
    widths = titles.map { _ in 0 }
  }

  /// One cell for each title.
  mutating func add(_ row: [String]) {
    for (column, cell) in row.enumerated() {
      widths[column] = max(widths[column], TextWidth.of(cell))
      bytes.append(contentsOf: cell.utf8)
      ends.append(bytes.count)
    }
  }

  /// `paint` colours a cell, given its column and its text, once its width is settled.
  func write(
    into text: inout TextBuffer, palette: Palette,
    paint: (_ column: Int, _ cell: String) -> String = { $1 }
  ) {
    let columns = titles.indices.filter { widths[$0] > 0 }
    write(titles, columns, into: &text) { palette.dim($1) }
    for start in stride(from: 0, to: ends.count, by: titles.count) {
      let row = titles.indices.map { cell(start + $0) }
      write(row, columns, into: &text, paint: paint)
    }
  }

  private func cell(_ index: Int) -> String {
    let start = index == 0 ? 0 : ends[index - 1]
    return String(decoding: bytes[start..<ends[index]], as: UTF8.self)
  }

  private func write(
    _ cells: [String], _ columns: [Int], into text: inout TextBuffer,
    paint: (Int, String) -> String
  ) {
    let filled = columns.lastIndex { !cells[$0].isEmpty } ?? 0
    for (place, column) in columns.prefix(filled + 1).enumerated() {
      let cell = cells[column]
      let width = max(widths[column], titles[column].count)
      let padding = String(repeating: " ", count: max(0, width - TextWidth.of(cell)))
      if place > 0 { text.add("  ") }
      if rightAligned.contains(column) { text.add(padding) }
      text.add(cell.isEmpty ? "" : paint(column, cell))
      if !rightAligned.contains(column), place < filled { text.add(padding) }
    }
    text.endLine()
  }
}
