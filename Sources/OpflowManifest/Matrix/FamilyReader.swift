/// Finds and expands matrices before tasks are read, because a task may need a later one.
struct FamilyReader {
  private let values: ValueReader
  private var reader: MatrixReader
  private let maker: FamilyMaker

  /// - Parameters:
  ///   - values: Must keep the texts that it reads.
  ///   - folder: The base of file names; absolute.
  ///   - makesLegs: Whether the tasks in `after` have succeeded.
  init(
    _ values: ValueReader, _ sources: ReadSources, _ texts: MatrixTexts, folder: Text,
    makesLegs: Bool
  ) {
    self.values = values
    reader = MatrixReader(values, sources, texts, folder: folder, makesLegs: makesLegs)
    maker = FamilyMaker(
      document: values.document, mistakes: values.mistakes, texts: texts, store: values.scratch)
  }

  /// - Parameters:
  ///   - declarations: The declarations of one file.
  ///   - room: The most matrix tasks allowed.
  mutating func read(
    _ declared: TaskDeclarations, in declarations: Range<Int>, room: inout Int
  ) -> [(declaration: Int, family: Family)] {
    var families: [(declaration: Int, family: Family)] = []
    for declaration in declarations {
      let key = declared.key(declaration)
      guard let matrix = matrixNode(of: key) else { continue }
      let family = read(matrix, of: declared.name(declaration), at: key, room: room)
      room -= family.ids.count
      families.append((declaration, family))
    }
    return families
  }

  private mutating func read(
    _ node: Node, of name: Text, at key: Node, room: Int
  ) -> Family {
    let scope = values.scope
    scope.taskID = nil
    scope.matrix = MatrixScope(owner: .matrix)
    defer { scope.matrix = MatrixScope() }
    let errorCount = values.mistakes.errorCount
    let matrix = reader.read(node)
    guard values.mistakes.errorCount == errorCount, !matrix.isWrong else { return unknown(matrix) }
    if matrix.isLater { return later(matrix) }
    var family = maker.make(matrix, name: name, key: key, room: room)
    family.after = matrix.after
    if values.mistakes.errorCount > errorCount { family = unknown(matrix) }
    return family
  }

  private func unknown(_ matrix: Matrix) -> Family { without(matrix, .unknown) }

  private func later(_ matrix: Matrix) -> Family {
    var family = without(matrix, .later)
    family.after = matrix.after
    family.laterSources = matrix.laterSources
    family.knowsNames = matrix.knowsNames
    return family
  }

  private func without(_ matrix: Matrix, _ emptiness: Family.Emptiness) -> Family {
    var family = Family()
    family.names = matrix.names
    family.namingNames = matrix.namingNames
    family.emptiness = emptiness
    return family
  }

  /// Returns the value of `matrix`, which may be merged in.
  private func matrixNode(of key: Node) -> Node? {
    let document = values.document
    guard document.kind(key.value) == .mapping else { return nil }
    var mayHave = false
    var children = document.children(key.value)
    while let name = children.next(), let value = children.next() {
      guard let text = document.scalarText(name) else { continue }
      if text == TaskKey.matrix.name { return value }
      if values.maps.isMerge(name, text) { mayHave = true }
    }
    guard mayHave else { return nil }
    // The task is read and reported later.
    values.mistakes.mute()
    defer { values.mistakes.unmute() }
    return values.maps.fields(key.value, values.tables.task, owner: TaskKey.owner)[.matrix]
  }
}
