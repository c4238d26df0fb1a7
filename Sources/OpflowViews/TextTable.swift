/// A table that is collected row by row and then written.
struct TextTable {
  private var layout: TableLayout
  // All cells in one buffer: a million rows of strings would take ten times as much memory.
  private var bytes: [UInt8] = []
  private var ends: [Int] = []

  init(_ titles: [String], rightAligned: Set<Int> = []) {
    layout = TableLayout(titles, rightAligned: rightAligned)
  }

  mutating func add(_ row: [String]) {
    for (column, cell) in row.enumerated() {
      layout.measure(cell, in: column)
      bytes.append(contentsOf: cell.utf8)
      ends.append(bytes.count)
    }
  }

  /// Writes the table.
  ///
  /// - Parameters:
  ///   - width: as in `TableLayout.fit`; nil to cut nothing.
  ///   - cutsFirst: whether the first column may be cut.
  ///   - leavingOut: columns that may be left out, in this order.
  ///   - paint: colors a cell once its width is known.
  func write(
    into text: inout TextBuffer, palette: Palette, fitting width: Int? = nil,
    cutsFirst: Bool = true, leavingOut: [Int] = [],
    paint: (_ column: Int, _ cell: String) -> String = { $1 }
  ) {
    var layout = layout
    if let width { layout.fit(to: width, cutsFirst: cutsFirst, leavingOut: leavingOut) }
    layout.writeTitles(into: &text, palette: palette)
    for start in stride(from: 0, to: ends.count, by: layout.columnCount) {
      layout.write((0..<layout.columnCount).map { cell(start + $0) }, into: &text, paint: paint)
    }
  }

  private func cell(_ index: Int) -> String {
    let start = index == 0 ? 0 : ends[index - 1]
    return String(decoding: bytes[start..<ends[index]], as: UTF8.self)
  }
}
