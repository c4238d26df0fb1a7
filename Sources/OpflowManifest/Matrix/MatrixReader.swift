internal import OpflowPlan

struct MatrixReader: NodeReader {
  let values: ValueReader
  let sources: ReadSources
  let texts: MatrixTexts
  /// The base of file names; absolute.
  let folder: ByteView
  /// The tasks in `after` have succeeded.
  let makesInstances: Bool
  var matrix = Matrix()

  init(
    _ values: ValueReader, _ sources: ReadSources, _ texts: MatrixTexts, folder: ByteView,
    makesInstances: Bool
  ) {
    self.makesInstances = makesInstances
    self.values = values
    self.sources = sources
    self.texts = texts
    self.folder = folder
  }

  mutating func read(_ node: Node) -> Matrix {
    matrix = Matrix()
    guard document.kind(node) == .mapping else {
      values.wrongType(node, Subject(TaskKey.matrix), expected: "a map", help: mapHelp(node))
      return matrix
    }
    let entries = maps.entries(node)
    if entries.count == 0 {
      error(node, "`matrix` is empty", help: "write `matrix: { NAME: [a, b] }`")
    }
    var lists: (exclude: Node?, include: Node?)
    for index in 0..<entries.count {
      let (name, value) = (entries.name(index), entries.value(index))
      if name == MatrixKey.rows.name {
        readRows(value)
      } else if name == MatrixKey.exclude.name {
        lists.exclude = value
      } else if name == MatrixKey.include.name {
        lists.include = value
      } else {
        readAxis(name, entries.keys[index], value)
      }
    }
    if matrix.factors.isEmpty, entries.count > 0 {
      guard entries.count == (lists.exclude == nil ? 0 : 1) + (lists.include == nil ? 0 : 1) else {
        return matrix
      }
      guard let include = lists.include, lists.exclude == nil else {
        error(
          node, "`matrix` has no axis and no `rows`",
          help: "`exclude` needs an axis; to list matrix tasks one by one, write"
            + " `include: [{ NAME: VALUE }]`")
        return matrix
      }
      readNames(ofFirst: include)
    }
    // `exclude` and `include` cannot be checked without the names.
    guard matrix.knowsNames else { return matrix }
    if let node = lists.exclude {
      matrix.excludeNode = node
      matrix.excluded = readExclude(node)
    }
    if let node = lists.include { matrix.included = readInclude(node) }
    return matrix
  }

  private func mapHelp(_ node: Node) -> String? {
    document.kind(node) == .sequence
      ? "write an axis as a list, `matrix: { NAME: [a, b] }`, or a list of maps under `rows`"
      : "write `matrix: { NAME: [a, b] }`"
  }

  // MARK: Axes

  private mutating func readAxis(_ name: ByteView, _ key: Node, _ node: Node) {
    guard isName(name, at: document.place(key)) else { return }
    let subject = Subject.entry("matrix", name)
    let number = matrix.names.count
    _ = matrix.names.insert(name)
    matrix.namingNames.append(number)
    var factor = Matrix.Factor(node: key, names: number..<(number + 1))
    switch document.kind(node) {
    case .sequence: factor.values = readList(node, subject)
    case .mapping: readMade(node, subject, into: &factor)
    case .scalar: values.wrongType(node, subject, expected: "a list", help: values.listHelp(node))
    }
    matrix.factors.append(factor)
  }

  mutating func isName(_ name: ByteView, at place: Place) -> Bool {
    guard VariableName.isExpressionName(name) else {
      diagnostics.error(
        place, "`\(name.string)` is not a valid name in a `matrix`",
        help: name == "<<"
          ? nil : "a name has letters, digits, `_` and `-`, and begins with a letter or `_`")
      return false
    }
    if matrix.names.index(of: name) != nil {
      diagnostics.error(
        place, "the `matrix` has the name `\(name.string)` twice", help: "rename one of them")
      return false
    }
    return true
  }

  private func readList(_ node: Node, _ subject: Subject) -> [Int32] {
    var list: [Int32] = []
    var first: [Int32: Node] = [:]
    for item in document.children(node) {
      if document.kind(item) == .mapping, values.quotingHelp(item) == nil {
        error(
          item, "an item of \(subject.description) must be a value, not a map",
          help: "write values that belong together as `rows: [{ NAME: VALUE, … }]`")
        continue
      }
      guard
        let scalar = values.scalar(
          item, subject, expected: "a list of strings, numbers or booleans")
      else { continue }
      let value = texts.number(of: scalar.text)
      if let before = first[value] {
        reportTwice(scalar.text, document.place(item), subject, document.place(before))
        continue
      }
      first[value] = item
      list.append(value)
    }
    if document.isEmpty(node) {
      error(node, "\(subject.description) is empty", help: "add a value, or remove it")
    }
    return list
  }

  func reportTwice(
    _ text: ByteView, _ place: Place, _ subject: Subject, _ first: Place, help: String? = nil
  ) {
    diagnostics.add(
      .error, place,
      "`\(text.string)` occurs twice in \(subject.description); two matrix tasks would be equal",
      help: help ?? "remove one of them", notes: [.init(place: first, message: "the first one")])
  }

  // MARK: Generated axes

  private mutating func readMade(_ node: Node, _ subject: Subject, into factor: inout Matrix.Factor)
  {
    if let help = values.quotingHelp(node) {
      return error(node, "\(subject.description) must be a list, not a map", help: help)
    }
    let fields = maps.fields(node, tables.axis)
    let known: [AxisKey] = [.range, .glob, .lines]
    let given = known.compactMap { key in fields.key(key).map { (key, $0) } }
    guard let (key, place) = given.first else {
      if !known.contains(where: { fields.isMeant($0) }) {
        error(
          node, "\(subject.description) has no values",
          help: "write a list, `range: [1, 4]`, `glob: PATTERN` or `lines: FILE`")
      }
      return
    }
    if given.count > 1 {
      return error(
        given[1].1, "\(subject.description) has both `\(key.name)` and `\(given[1].0.name)`",
        help: "remove one of them")
    }
    let isLater = readAfter(fields, of: key)
    switch key {
    case .range: factor.range = readRange(place.value)
    case .glob where isLater: noteLater(place.value, Subject(AxisKey.glob))
    case .lines where isLater: noteLater(place.value, Subject(AxisKey.lines))
    case .glob: factor.values = readGlob(place.value)
    case .lines: factor.values = readLines(place.value, subject, factor.names)
    case .file, .after: break
    }
  }

  /// - Parameter key: The key that names files.
  /// - Returns: True if the files must not be read yet.
  mutating func readAfter(_ fields: Fields<AxisKey>, of key: AxisKey) -> Bool {
    guard let after = fields.key(.after) else { return false }
    if key == .range {
      error(
        after, "`range` cannot have `after`, because it reads no file",
        help: "remove `after`, or let the task write the numbers to a file: `lines: FILE`")
      return false
    }
    guard let id = values.scalar(after.value, Subject(AxisKey.after), expected: "a task ID")
    else { return true }
    if !matrix.after.contains(where: { $0.text.isSame(as: id.text) }) {
      matrix.after.append(Matrix.TaskWord(text: id.text, node: after.value))
    }
    if makesInstances { return false }
    matrix.isLater = true
    return true
  }

  mutating func noteLater(_ node: Node, _ subject: Subject) {
    if let source = values.filledString(node, subject) { matrix.laterSources.append(source.text) }
  }

  private func readRange(_ node: Node) -> ClosedRange<Int64>? {
    guard document.kind(node) == .sequence else {
      let last = document.scalarText(node).flatMap { CoreSchema.integer($0) }
      return values.wrongType(
        node, Subject(AxisKey.range), expected: "a list of two numbers",
        help: last.map { "write [1, \($0)]" } ?? "write [FIRST, LAST]")
    }
    let items = Array(document.children(node))
    guard items.count == 2 else {
      return error(
        node, "`range` must be two numbers, the first and the last, not \(items.count)",
        help: items.count > 2
          ? "to list values one by one, write them as a list: `NAME: [1, 5, 9]`"
          : "write [FIRST, LAST]")
    }
    let bounds = items.map { values.integer($0, .item(of: AxisKey.range), in: KeyBounds.axis) }
    for item in items {
      let text = document.text(item)
      if text.count > 1, text.first == UInt8(ascii: "0"), text.allSatisfy(ASCII.isDigit) {
        return error(
          item, "a number of `range` begins with 0, but the values would not",
          help: "remove the 0, or write the values as a list of strings")
      }
    }
    guard let first = bounds[0], let last = bounds[1] else { return nil }
    if first <= last { return first...last }
    return error(
      node, "`range` ends before it begins: \(first) to \(last)", help: "write [\(last), \(first)]")
  }

  private mutating func readGlob(_ node: Node) -> [Int32] {
    guard let pattern = values.filledString(node, Subject(AxisKey.glob)) else { return [] }
    values.warnOfShellText(pattern, node, Subject(AxisKey.glob))
    matrix.isOfFiles = true
    switch sources.names(pattern.text, in: folder) {
    case .success(let names):
      if names.isEmpty {
        warning(
          node, "no file matches `\(pattern.text.string)`, so the task has no matrix tasks",
          help: "opflow skips the task and runs its dependents")
      }
      return names.map { texts.number(of: $0) }
    case .failure(let fault):
      error(node, "cannot expand `\(pattern.text.string)`: \(fault.text)")
      return []
    }
  }

  private mutating func readLines(_ node: Node, _ subject: Subject, _ names: Range<Int>) -> [Int32]
  {
    guard let file = readFile(node, Subject(AxisKey.lines)) else { return [] }
    guard TextFile.isReadable(file, diagnostics) else {
      matrix.isWrong = true
      return []
    }
    matrix.files.append(Matrix.File(names: names, file: file, isTable: false))
    var list: [Int32] = []
    var first: [Int32: Int] = [:]
    TextFile.forEachLine(file.text) { line, offset in
      if list.count == MatrixGroup.mostInstances {
        matrix.isWrong = true
        diagnostics.error(
          file.place(offset), "the file has more than \(MatrixGroup.mostInstances) lines")
        return false
      }
      let value = texts.number(of: line)
      if let before = first[value] {
        matrix.isWrong = true
        reportTwice(line, file.place(offset), subject, file.place(before))
      } else {
        first[value] = offset
        list.append(value)
      }
      return true
    }
    if list.isEmpty { warnOfNothing(in: file, at: node) }
    return list
  }

  func warnOfNothing(in file: SourceFile, at node: Node) {
    warning(
      node, "`\(file.displayPath)` has no values, so the task has no matrix tasks",
      help: "opflow skips the task and runs its dependents")
  }

  mutating func readFile(_ node: Node, _ subject: Subject) -> SourceFile? {
    guard let path = values.filledString(node, subject) else { return nil }
    values.warnOfShellText(path, node, subject)
    matrix.isOfFiles = true
    switch sources.file(path.text, folder) {
    case .success(let file): return file
    case .failure(let fault):
      return error(node, "cannot read `\(path.text.string)`: \(fault.text)", help: fault.help)
    }
  }
}

extension MatrixReader {
  mutating func readRows(_ node: Node) {
    let before = matrix.names.count
    var factor = Matrix.Factor(node: node, names: before..<before)
    switch document.kind(node) {
    case .sequence: readWritten(node, into: &factor)
    case .scalar: readTable(node, into: &factor)
    case .mapping:
      let fields = maps.fields(node, tables.rows)
      if let file = fields[.file] {
        if readAfter(fields, of: .file) {
          noteLater(file, Subject(MatrixKey.rows))
          matrix.knowsNames = false
        } else {
          readTable(file, into: &factor)
        }
      } else if !fields.isMeant(.file) {
        error(
          node, "`rows` has no `file`",
          help: "write a list of maps, or the name of a file with a header row")
      }
    }
    factor.names = before..<matrix.names.count
    if matrix.names.count > before { matrix.namingNames.append(before) }
    matrix.factors.append(factor)
  }

  private static var helpForNaming: String {
    "the first name of `rows` makes the ID, so each row needs another value there; for IDs with "
      + "all values, use `include`"
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
      let entries = maps.entries(item)
      if isFirst {
        isFirst = false
        for index in 0..<entries.count {
          let name = entries.name(index)
          if isName(name, at: document.place(entries.keys[index])) {
            _ = matrix.names.insert(name)
          }
        }
        if entries.count == 0 { error(item, "the first row is empty") }
      }
      let names = before..<matrix.names.count
      guard !names.isEmpty,
        let row = readWhole(item, entries, names, "each row needs the names of the first")
      else { continue }
      if let other = first[row[0]] {
        reportTwice(
          texts[row[0]], document.place(valueNode(of: names.lowerBound, entries) ?? item),
          .entry("rows", matrix.names.texts[before]),
          document.place(valueNode(of: names.lowerBound, maps.entries(other)) ?? other),
          help: Self.helpForNaming)
        continue
      }
      first[row[0]] = item
      factor.values += row
    }
    if document.isEmpty(node) { error(node, "`rows` is empty") }
  }

  private func valueNode(of name: Int, _ entries: Entries) -> Node? {
    (0..<entries.count).first { entries.name($0).isSame(as: matrix.names.texts[name]) }
      .map { entries.value($0) }
  }

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
      return error(
        node,
        "`\(matrix.names.texts[names.lowerBound + index].string)` is missing here; \(reason)")
    }
    return row
  }

  private func readValue(_ node: Node, _ name: ByteView) -> Int32? {
    values.scalar(node, .entry("matrix", name), expected: "a string, a number or a boolean").map {
      texts.number(of: $0.text)
    }
  }

  private func reportUnknown(_ name: ByteView, at key: Node, among names: Range<Int>) {
    let known = matrix.names.texts[names]
    error(
      key, "the `matrix` has no name `\(name.string)`",
      help: scope.suggestions.help(for: name, among: known) ?? Suggestion.names(known))
  }

  // MARK: In a file

  private mutating func readTable(_ node: Node, into factor: inout Matrix.Factor) {
    let before = matrix.names.count
    guard let file = readFile(node, Subject(MatrixKey.rows)) else { return }
    let valueTable = ValueTable(file, diagnostics, store: scratch)
    for cell in valueTable.names {
      if isName(cell.text, at: file.place(cell.offset)) { _ = matrix.names.insert(cell.text) }
    }
    guard valueTable.isWhole, matrix.names.count - before == valueTable.names.count else {
      matrix.isWrong = true
      return
    }
    if valueTable.rowOffsets.isEmpty { return warnOfNothing(in: file, at: node) }
    matrix.files.append(Matrix.File(names: before..<matrix.names.count, file: file, isTable: true))
    factor.values = valueTable.cells.map { texts.number(of: $0) }
    var first: [Int32: Int] = [:]
    for (row, offset) in valueTable.rowOffsets.enumerated() {
      let value = factor.values[row * valueTable.names.count]
      if texts[value].isEmpty {
        matrix.isWrong = true
        diagnostics.error(
          file.place(offset),
          "`\(matrix.names.texts[before].string)` is empty here, but the task's ID needs a value"
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
          error(
            value, "an item of `exclude` takes one value for a name, not a list",
            help: "write one item for each value")
          continue
        }
        if let value = readValue(value, name) { items.append((number, value)) }
      }
      if entries.count == 0 {
        error(
          item, "an item of `exclude` is empty, so it matches every matrix task",
          help: "remove it, or add a value")
      }
      return items.isEmpty ? nil : Matrix.Values(node: item, items: items)
    }
  }

  /// Reads the names of a matrix that has only `include`. All names are part of IDs.
  mutating func readNames(ofFirst node: Node) {
    guard document.kind(node) == .sequence,
      let first = document.children(node).first(where: { document.kind($0) == .mapping })
    else { return }
    let entries = maps.entries(first)
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
      readWhole(
        item, entries, 0..<matrix.names.count, "`include` needs a value for each name"
      ).map { row in Matrix.Values(node: item, items: row.enumerated().map { ($0, $1) }) }
    }
  }

  private func readMaps(
    _ node: Node, _ key: MatrixKey, _ read: (Node, Entries) -> Matrix.Values?
  ) -> [Matrix.Values] {
    guard let items = values.items(node, Subject(key), expected: "a list of maps") else {
      return []
    }
    if items.isEmpty { error(node, "`\(key.name)` is empty") }
    var list: [Matrix.Values] = []
    for item in items {
      guard document.kind(item) == .mapping, values.quotingHelp(item) == nil else {
        values.wrongType(item, .item(of: key), expected: "a map")
        continue
      }
      if let values = read(item, maps.entries(item)) { list.append(values) }
    }
    return list
  }
}

/// Matrices read these; they are inputs of the plan.
final class ReadSources {
  /// Opens a file by its path in a manifest, relative to a folder.
  let file: (_ path: ByteView, _ folder: ByteView) -> Result<SourceFile, FileFault>
  private let names: (_ pattern: String, _ folder: String) -> Result<[String], FileNameFault>
  private(set) var globs: [PlanInputs.FoundNames] = []
  private let store: TextStore

  struct FileFault: Error {
    var text: String
    var help: String?
  }

  init(
    store: TextStore, file: @escaping (ByteView, ByteView) -> Result<SourceFile, FileFault>,
    names: @escaping (String, String) -> Result<[String], FileNameFault>
  ) {
    self.store = store
    self.file = file
    self.names = names
  }

  func names(_ pattern: ByteView, in folder: ByteView) -> Result<[ByteView], FileNameFault> {
    let (pattern, folder) = (pattern.string, folder.string)
    return names(pattern, folder).map { names in
      globs.append(
        PlanInputs.FoundNames(
          pattern: pattern, folder: folder, hash: PlanInputs.FoundNames.hash(of: names)))
      return names.map { store.copy($0) }
    }
  }
}
