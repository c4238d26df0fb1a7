/// Finds the cells and lines whose values a text uses, because errors must be fixed there. It does
/// nothing before the first error.
final class LegCells {
  var leg = 0

  private let family: Family
  private let document: YAMLDocument
  private let texts: MatrixTexts
  private let mistakes: Mistakes
  private let store = TextStore()
  /// The names that the text at a place uses and whose values are from files.
  private var namesAt: [Place: [Int]] = [:]
  /// The files that were read again, by file number.
  private var tables: [UInt32: Table] = [:]

  private struct Table {
    var sheet: Sheet?
    /// By value, the row of a table or the offset of a line.
    var rows: [Int32: Int] = [:]
  }

  init?(_ family: Family, _ document: YAMLDocument, _ texts: MatrixTexts, _ mistakes: Mistakes) {
    if family.files.isEmpty { return nil }
    self.family = family
    self.document = document
    self.texts = texts
    self.mistakes = mistakes
  }

  /// - Parameter place: The start of a text, or of an expression in it.
  func find(at place: Place) -> [LegCell] {
    guard place.file == document.file.number else { return [] }
    return names(at: place).compactMap { cell(of: $0) }
  }

  private func cell(of name: Int) -> LegCell? {
    guard let source = family.files.first(where: { $0.names.contains(name) }) else { return nil }
    let first = source.names.lowerBound
    var table = tables[source.file.number] ?? read(source)
    defer { tables[source.file.number] = table }
    // A matrix task from `include` may not be in the file.
    guard let row = table.rows[family.value(first, of: leg)] else { return nil }
    let offset = table.sheet?.offset(row: row, column: name - first) ?? row
    return LegCell(
      name: family.names.texts[name], value: texts[family.value(name, of: leg)],
      place: source.file.place(offset))
  }

  private func read(_ source: Matrix.File) -> Table {
    mistakes.mute()
    defer { mistakes.unmute() }
    var table = Table()
    if source.isSheet {
      let sheet = Sheet(source.file, mistakes, store: store)
      for row in sheet.rowOffsets.indices {
        if let value = texts.knownNumber(of: sheet.cells[row * sheet.names.count]) {
          table.rows[value] = row
        }
      }
      table.sheet = sheet
    } else {
      TextFile.forEachLine(source.file.text) { line, offset in
        if let value = texts.knownNumber(of: line) { table.rows[value] = offset }
        return true
      }
    }
    return table
  }

  // MARK: Names

  private func names(at place: Place) -> [Int] {
    if let known = namesAt[place] { return known }
    var names: [Int] = []
    let text = scalar(at: place.offset)
    var rest = 0
    while let start = Self.firstName(in: text, from: rest) {
      let end = text[start...].firstIndex { !ASCII.continuesName($0) } ?? text.count
      if let name = family.names.index(of: text.part(start..<end)), !names.contains(name),
        family.files.contains(where: { $0.names.contains(name) })
      {
        names.append(name)
      }
      rest = end
    }
    namesAt[place] = names
    return names
  }

  private static let prefix = Array("matrix.".utf8)

  private static func firstName(in text: Text, from start: Int) -> Int? {
    var position = start
    while position + prefix.count <= text.count {
      if text.part(position..<text.count).starts(with: prefix) { return position + prefix.count }
      position += 1
    }
    return nil
  }

  private func scalar(at offset: Int) -> Text {
    let source = document.source
    guard offset < source.count else { return source.part(source.count..<source.count) }
    let first = source[offset]
    let isQuoted = first == UInt8(ascii: "\"") || first == UInt8(ascii: "'")
    let end = source[(offset + 1)...].firstIndex { $0 == 10 || isQuoted && $0 == first }
    return source.part(offset..<(end ?? source.count))
  }
}
