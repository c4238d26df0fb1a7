/// Errors must be fixed in the cells and lines whose values a text uses. Does nothing before the
/// first error.
final class InstanceCells {
  var instance = 0

  private let matrixGroup: MatrixGroup
  private let document: YAMLDocument
  private let texts: MatrixTexts
  private let diagnostics: Diagnostics
  private let store = TextStore()
  /// The names at a place whose values are from files.
  private var namesAt: [Place: [Int]] = [:]
  /// Files that were read again, by file number.
  private var tables: [UInt32: Table] = [:]

  private struct Table {
    var valueTable: ValueTable?
    /// The row of a table or the offset of a line, by value.
    var rows: [Int32: Int] = [:]
  }

  init?(
    _ matrixGroup: MatrixGroup, _ document: YAMLDocument, _ texts: MatrixTexts,
    _ diagnostics: Diagnostics
  ) {
    if matrixGroup.files.isEmpty { return nil }
    self.matrixGroup = matrixGroup
    self.document = document
    self.texts = texts
    self.diagnostics = diagnostics
  }

  /// - Parameter place: The start of a text, or of an expression in it.
  func find(at place: Place) -> [InstanceCell] {
    guard place.file == document.file.number else { return [] }
    return names(at: place).compactMap { cell(of: $0) }
  }

  private func cell(of name: Int) -> InstanceCell? {
    guard let source = matrixGroup.files.first(where: { $0.names.contains(name) }) else {
      return nil
    }
    let first = source.names.lowerBound
    var table = tables[source.file.number] ?? read(source)
    defer { tables[source.file.number] = table }
    // A matrix task from `include` may not be in the file.
    guard let row = table.rows[matrixGroup.value(first, of: instance)] else { return nil }
    let offset = table.valueTable?.offset(row: row, column: name - first) ?? row
    return InstanceCell(
      name: matrixGroup.names.texts[name], value: texts[matrixGroup.value(name, of: instance)],
      place: source.file.place(offset))
  }

  private func read(_ source: Matrix.File) -> Table {
    diagnostics.mute()
    defer { diagnostics.unmute() }
    var table = Table()
    if source.isTable {
      let valueTable = ValueTable(source.file, diagnostics, store: store)
      for row in valueTable.rowOffsets.indices {
        if let value = texts.knownNumber(of: valueTable.cells[row * valueTable.names.count]) {
          table.rows[value] = row
        }
      }
      table.valueTable = valueTable
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
      if let name = matrixGroup.names.index(of: text.part(start..<end)), !names.contains(name),
        matrixGroup.files.contains(where: { $0.names.contains(name) })
      {
        names.append(name)
      }
      rest = end
    }
    namesAt[place] = names
    return names
  }

  private static let prefix = Array("matrix.".utf8)

  private static func firstName(in text: ByteView, from start: Int) -> Int? {
    var position = start
    while position + prefix.count <= text.count {
      if text.part(position..<text.count).starts(with: prefix) { return position + prefix.count }
      position += 1
    }
    return nil
  }

  private func scalar(at offset: Int) -> ByteView {
    let source = document.source
    guard offset < source.count else { return source.part(source.count..<source.count) }
    let first = source[offset]
    let isQuoted = first == UInt8(ascii: "\"") || first == UInt8(ascii: "'")
    let end = source[(offset + 1)...].firstIndex { $0 == 10 || isQuoted && $0 == first }
    return source.part(offset..<(end ?? source.count))
  }
}
