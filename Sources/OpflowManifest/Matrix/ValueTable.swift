/// A table: a header row, then rows. Columns are separated by tabs, or in a `.csv` by commas, with
/// quoting (RFC 4180). Empty lines, a byte order mark and carriage returns are ignored.
struct ValueTable {
  struct Cell {
    var text: ByteView
    var offset: Int
  }

  private(set) var names: [Cell] = []
  private(set) var cells: [ByteView] = []
  private(set) var rowOffsets: [Int] = []
  private(set) var isWhole = true

  private let file: SourceFile
  private let diagnostics: Diagnostics
  private let isQuoted: Bool
  private let separator: UInt8
  private let store: TextStore
  private var row: [Cell] = []

  init(_ file: SourceFile, _ diagnostics: Diagnostics, store: TextStore) {
    self.file = file
    self.diagnostics = diagnostics
    self.store = store
    isQuoted = file.displayPath.hasSuffix(".csv")
    separator = UInt8(ascii: isQuoted ? "," : "\t")
    isWhole = TextFile.isReadable(file, diagnostics)
    if isWhole { readRows() }
  }

  mutating func offset(row number: Int, column: Int) -> Int {
    row.removeAll(keepingCapacity: true)
    _ = readRow(from: rowOffsets[number])
    return row[column].offset
  }

  private mutating func report(_ offset: Int, _ message: String, help: String? = nil) {
    isWhole = false
    diagnostics.error(file.place(offset), message, help: help)
  }

  private mutating func readRows() {
    var position = TextFile.start(of: file.text)
    while position < file.text.count {
      let start = position
      row.removeAll(keepingCapacity: true)
      position = readRow(from: start)
      if row.count == 1, row[0].text.isEmpty, file.text[start] != UInt8(ascii: "\"") { continue }
      if names.isEmpty {
        names = row
        continue
      }
      if rowOffsets.count == MatrixGroup.mostInstances {
        return report(start, "the file has more than \(MatrixGroup.mostInstances) rows")
      }
      addRow(at: start)
    }
  }

  private mutating func addRow(at start: Int) {
    guard row.count == names.count else {
      let isLong = row.count > names.count
      return report(
        isLong ? row[names.count].offset : start,
        "this row has \(row.count) column\(row.count == 1 ? "" : "s"), but the header row"
          + " has \(names.count)",
        help: isLong
          ? nil
          : "`\(names[row.count].text.string)` is missing; an empty value is an empty column")
    }
    rowOffsets.append(start)
    for cell in row { cells.append(cell.text) }
  }

  /// Returns where the next row starts.
  private mutating func readRow(from start: Int) -> Int {
    let text = file.text
    var position = start
    while true {
      let begin = position
      if isQuoted, position < text.count, text[position] == UInt8(ascii: "\"") {
        position = readQuoted(from: position)
      } else {
        while position < text.count, text[position] != 10, text[position] != separator {
          position += 1
        }
        row.append(Cell(text: withoutReturn(begin, position), offset: begin))
      }
      guard position < text.count, text[position] == separator else { break }
      position += 1
    }
    return position < text.count ? position + 1 : position
  }

  private func withoutReturn(_ begin: Int, _ end: Int) -> ByteView {
    let isReturn =
      end > begin && file.text[end - 1] == 13 && (end == file.text.count || file.text[end] == 10)
    return file.text.part(begin..<(isReturn ? end - 1 : end))
  }

  /// Returns where the column of the quoted value ends.
  private mutating func readQuoted(from begin: Int) -> Int {
    let text = file.text
    let quote = UInt8(ascii: "\"")
    var position = begin + 1
    while position < text.count {
      if text[position] == quote {
        guard position + 1 < text.count, text[position + 1] == quote else { break }
        position += 1
      }
      store.append(text.part(position..<(position + 1)))
      position += 1
    }
    row.append(Cell(text: store.finish(), offset: begin))
    if position == text.count {
      report(begin, "a quoted value is not closed", help: "add the closing quote")
      return position
    }
    position += 1
    let end = position
    while position < text.count, text[position] != 10, text[position] != separator { position += 1 }
    if !withoutReturn(end, position).isEmpty {
      report(
        end, "text follows the closing quote of a value",
        help: "write a quote within a value twice: \"\"")
    }
    return position
  }
}

/// Lines are values, except empty ones.
enum TextFile {
  /// Stops when `body` returns false.
  static func forEachLine(_ text: ByteView, _ body: (ByteView, Int) -> Bool) {
    var position = start(of: text)
    while position < text.count {
      let end = text[position...].firstIndex(of: 10) ?? text.count
      let last = end > position && text[end - 1] == 13 ? end - 1 : end
      if last > position, !body(text.part(position..<last), position) { return }
      position = end + 1
    }
  }

  static func start(of text: ByteView) -> Int { text.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0 }

  static func isReadable(_ file: SourceFile, _ diagnostics: Diagnostics) -> Bool {
    if let zero = file.text.firstIndex(of: 0) {
      diagnostics.error(file.place(zero), "the file contains a NUL byte", help: "it must be text")
      return false
    }
    guard let wrong = file.firstWrong else { return true }
    let line = file.text[..<wrong].lastIndex(of: 10).map { $0 + 1 } ?? start(of: file.text)
    diagnostics.error(file.place(line), "this line is not valid UTF-8")
    return false
  }
}
