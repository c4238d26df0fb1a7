// Reads `rows`, `exclude` and `include`.

extension MatrixReader {
  mutating func readRows(_ node: Node) {
    let before = matrix.names.count
    var factor = Matrix.Factor(node: node, names: before..<before)
    switch document.kind(node) {
    case .sequence: readWritten(node, into: &factor)
    case .scalar: readSheet(node, into: &factor)
    case .mapping:
      let fields = values.maps.fields(node, values.tables.rows, owner: "`rows`")
      if let file = fields[.file] {
        if readAfter(fields, of: .file) {
          noteLater(file, Subject(MatrixKey.rows))
          matrix.knowsNames = false
        } else {
          readSheet(file, into: &factor)
        }
      } else if !fields.isMeant(.file) {
        mistakes.error(
          document.place(node), "`rows` has no `file`",
          help: "write a list of maps, or the name of a file with a line of names")
      }
    }
    factor.names = before..<matrix.names.count
    if matrix.names.count > before { matrix.namingNames.append(before) }
    matrix.factors.append(factor)
  }

  private static var helpForNaming: String {
    "the first name of `rows` names the leg, and each row has its own there; legs that all their "
      + "values name are written under `include`"
  }

  // MARK: In the manifest

  private mutating func readWritten(_ node: Node, into factor: inout Matrix.Factor) {
    let before = matrix.names.count
    var isFirst = true
    var first: [Int32: Node] = [:]
    for item in document.children(node) {
      guard document.kind(item) == .mapping, values.quotingHelp(item) == nil else {
        values.wrongType(item, .item(of: MatrixKey.rows), expected: "a map")
        continue
      }
      let entries = values.maps.entries(item)
      if isFirst {
        isFirst = false
        for index in 0..<entries.count {
          let name = entries.name(index)
          if isName(name, at: document.place(entries.keys[index])) {
            _ = matrix.names.insert(name)
          }
        }
        if entries.count == 0 { mistakes.error(document.place(item), "the first row is empty") }
      }
      let names = before..<matrix.names.count
      guard !names.isEmpty, let row = readWhole(item, entries, names, "the first row has it")
      else { continue }
      if let other = first[row[0]] {
        reportTwice(
          texts[row[0]], document.place(valueNode(of: names.lowerBound, entries) ?? item),
          .entry("rows", matrix.names.texts[before]),
          document.place(
            valueNode(of: names.lowerBound, values.maps.entries(other)) ?? other),
          help: Self.helpForNaming)
        continue
      }
      first[row[0]] = item
      factor.values += row
    }
    if document.isEmpty(node) { mistakes.error(document.place(node), "`rows` is empty") }
  }

  private func valueNode(of name: Int, _ entries: Entries) -> Node? {
    (0..<entries.count).first { entries.name($0).isSame(as: matrix.names.texts[name]) }
      .map { entries.value($0) }
  }

  /// Returns nil, after an error, if a value is missing or invalid.
  ///
  /// - Parameter reason: Why each name is required.
  private func readWhole(
    _ node: Node, _ entries: Entries, _ names: Range<Int>, _ reason: StaticString
  ) -> [Int32]? {
    var row = [Int32](repeating: -1, count: names.count)
    var isWhole = true
    for index in 0..<entries.count {
      let name = entries.name(index)
      guard let number = matrix.names.index(of: name), names.contains(number) else {
        reportUnknown(name, at: entries.keys[index], among: names)
        isWhole = false
        continue
      }
      if let value = readValue(entries.value(index), name) {
        row[number - names.lowerBound] = value
      } else {
        isWhole = false
      }
    }
    guard isWhole else { return nil }
    for (index, value) in row.enumerated() where value < 0 {
      mistakes.error(
        document.place(node),
        "`\(matrix.names.texts[names.lowerBound + index].string)` is missing here, and \(reason)")
      return nil
    }
    return row
  }

  private func readValue(_ node: Node, _ name: Text) -> Int32? {
    values.scalar(
      node, .entry("matrix", name), expected: "a string, a number or a boolean"
    ).map { texts.number(of: $0.text) }
  }

  private func reportUnknown(_ name: Text, at key: Node, among names: Range<Int>) {
    let known = matrix.names.texts[names]
    mistakes.error(
      document.place(key), "the `matrix` has no `\(name.string)`",
      help: values.scope.suggestions.help(for: name, among: known)
        ?? Suggestion.names(known))
  }

  // MARK: In a file

  private mutating func readSheet(_ node: Node, into factor: inout Matrix.Factor) {
    let before = matrix.names.count
    guard let file = readFile(node, Subject(MatrixKey.rows)) else { return }
    let sheet = Sheet(file, mistakes, store: values.scratch)
    for cell in sheet.names {
      if isName(cell.text, at: file.place(cell.offset)) { _ = matrix.names.insert(cell.text) }
    }
    guard sheet.isWhole, matrix.names.count - before == sheet.names.count else {
      matrix.isWrong = true
      return
    }
    if sheet.rowOffsets.isEmpty { return warnOfNothing(in: file, at: node) }
    matrix.files.append(
      Matrix.File(names: before..<matrix.names.count, file: file, isSheet: true))
    factor.values = sheet.cells.map { texts.number(of: $0) }
    var first: [Int32: Int] = [:]
    for (row, offset) in sheet.rowOffsets.enumerated() {
      let value = factor.values[row * sheet.names.count]
      if texts[value].isEmpty {
        matrix.isWrong = true
        mistakes.error(
          file.place(offset),
          "`\(matrix.names.texts[before].string)` is empty here, and it is what the leg is named by"
        )
      } else if let other = first[value] {
        matrix.isWrong = true
        reportTwice(
          texts[value], file.place(offset), .entry("rows", matrix.names.texts[before]),
          file.place(other), help: Self.helpForNaming)
      } else {
        first[value] = offset
      }
    }
  }

  // MARK: Exclude and include

  func readExclude(_ node: Node) -> [Matrix.Values] {
    readMaps(node, .exclude) { item, entries in
      var items: [(name: Int, value: Int32)] = []
      for index in 0..<entries.count {
        let name = entries.name(index)
        guard let number = matrix.names.index(of: name) else {
          reportUnknown(name, at: entries.keys[index], among: 0..<matrix.names.count)
          continue
        }
        let value = entries.value(index)
        if document.kind(value) == .sequence {
          mistakes.error(
            document.place(value), "an item of `exclude` has one value for a name, not a list",
            help: "write an item for each value")
          continue
        }
        if let value = readValue(value, name) { items.append((number, value)) }
      }
      if entries.count == 0 {
        mistakes.error(document.place(item), "an item of `exclude` is empty: it fits every leg")
      }
      return items.isEmpty ? nil : Matrix.Values(node: item, items: items)
    }
  }

  /// Reads the names of a matrix that has only `include`. All are part of IDs.
  mutating func readNames(ofFirst node: Node) {
    guard document.kind(node) == .sequence,
      let first = document.children(node).first(where: { document.kind($0) == .mapping })
    else { return }
    let entries = values.maps.entries(first)
    for index in 0..<entries.count {
      let name = entries.name(index)
      if isName(name, at: document.place(entries.keys[index])) {
        matrix.namingNames.append(matrix.names.count)
        _ = matrix.names.insert(name)
      }
    }
  }

  func readInclude(_ node: Node) -> [Matrix.Values] {
    readMaps(node, .include) { item, entries in
      readWhole(item, entries, 0..<matrix.names.count, "`include` adds whole legs").map { row in
        Matrix.Values(node: item, items: row.enumerated().map { ($0, $1) })
      }
    }
  }

  private func readMaps(
    _ node: Node, _ key: MatrixKey, _ read: (Node, Entries) -> Matrix.Values?
  ) -> [Matrix.Values] {
    guard let items = values.items(node, Subject(key), expected: "a list of maps") else {
      return []
    }
    if items.isEmpty { mistakes.error(document.place(node), "`\(key.name)` is empty") }
    var list: [Matrix.Values] = []
    for item in items {
      guard document.kind(item) == .mapping, values.quotingHelp(item) == nil else {
        values.wrongType(item, .item(of: key), expected: "a map")
        continue
      }
      if let values = read(item, values.maps.entries(item)) { list.append(values) }
    }
    return list
  }
}
