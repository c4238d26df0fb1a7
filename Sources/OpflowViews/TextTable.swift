struct TextTable {
  private var layout: TableLayout
  // All cells are in one buffer: a million rows of strings would take ten times as much memory.
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

/// The columns of a table: two spaces apart, as wide as their widest cell, omitted if all cells are
/// empty. All rows are measured before the first one is written.
struct TableLayout {
  private let titles: [String]
  private var widths: [Int]
  private let rightAligned: Set<Int>
  private var isFitted = false

  private static let leastColumns = 8

  init(_ titles: [String], rightAligned: Set<Int> = []) {
    self.titles = titles
    self.rightAligned = rightAligned
    widths = titles.map { _ in 0 }
  }

  var columnCount: Int { titles.count }

  mutating func measure(_ cell: String, in column: Int) {
    widths[column] = max(widths[column], TextWidth.of(cell))
  }

  mutating func measure(width: Int, in column: Int) {
    widths[column] = max(widths[column], width)
  }

  /// Cuts the table to a terminal's width: omits columns of `leavingOut`, in order, then cuts the
  /// last column, and with `cutsFirst` the first one, in the middle of its cells. Columns of
  /// numbers are never cut, which would falsify them.
  mutating func fit(to width: Int, cutsFirst: Bool, leavingOut: [Int] = []) {
    for column in leavingOut where leastWidth(cutsFirst: cutsFirst) > width { widths[column] = 0 }
    let columns = titles.indices.filter { widths[$0] > 0 }
    guard let first = columns.first, let last = columns.last, first != last else { return }
    let cutsFirst = cutsFirst && !rightAligned.contains(first)
    let wanted = titles.indices.map { max(widths[$0], titles[$0].count) }
    let gaps = 2 * (columns.count - 1)
    let room = width - columns.dropFirst().dropLast().reduce(gaps) { $0 + wanted[$1] }
    if wanted[first] + wanted[last] <= room { return }
    isFitted = true
    let cutsLast = !rightAligned.contains(last)
    if cutsFirst {
      let least = max(Self.leastColumns, cutsLast ? room / 2 : 0)
      widths[first] = min(wanted[first], max(least, room - wanted[last]))
    }
    if cutsLast {
      let left = room - max(widths[first], titles[first].count)
      widths[last] = min(wanted[last], max(Self.leastColumns, left))
    }
  }

  private func leastWidth(cutsFirst: Bool) -> Int {
    let columns = titles.indices.filter { widths[$0] > 0 }
    return columns.reduce(2 * max(0, columns.count - 1)) { sum, column in
      let wanted = max(widths[column], titles[column].count)
      let mayCut = column == columns.first ? cutsFirst : column == columns.last
      let isCut = mayCut && !rightAligned.contains(column)
      return sum + (isCut ? min(wanted, max(Self.leastColumns, titles[column].count)) : wanted)
    }
  }

  func writeTitles(into text: inout TextBuffer, palette: Palette) {
    write(titles, into: &text) { palette.dim($1) }
  }

  func write(
    _ cells: [String], into text: inout TextBuffer,
    paint: (_ column: Int, _ cell: String) -> String = { $1 }
  ) {
    let filled = titles.indices.last { widths[$0] > 0 && !cells[$0].isEmpty }
    var isFirst = true
    for column in titles.indices where widths[column] > 0 {
      if column > filled ?? column { break }
      let cell = isFitted ? fitted(cells[column], column) : cells[column]
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

  private func fitted(_ cell: String, _ column: Int) -> String {
    let width = max(widths[column], titles[column].count)
    let isFirst = !widths[..<column].contains { $0 > 0 }
    return isFirst ? TextWidth.cutMiddle(cell, to: width) : TextWidth.cut(cell, to: width)
  }
}
