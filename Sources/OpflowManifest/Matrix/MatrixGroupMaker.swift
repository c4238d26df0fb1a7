internal import OpflowPlan

/// Makes matrix tasks: all combinations, minus `exclude`, plus `include`. The last axis varies
/// fastest. Limits are checked before anything is made.
struct MatrixGroupMaker: Reporter {
  let document: YAMLDocument
  let diagnostics: Diagnostics
  let texts: MatrixTexts
  let store: TextStore
  /// Owns an ID before it is shortened.
  private let scratch = TextStore()

  /// - Parameter room: The most matrix tasks allowed.
  func make(_ matrix: Matrix, name: ByteView, key: Node, room: Int) -> MatrixGroup {
    var matrixGroup = MatrixGroup()
    matrixGroup.names = matrix.names
    matrixGroup.namingNames = matrix.namingNames
    matrixGroup.files = matrix.files
    guard let product = matrix.productCount, product + matrix.included.count <= room else {
      reportTooMany(matrix, key, room)
      matrixGroup.emptiness = .unknown
      return matrixGroup
    }
    guard !isTooLong(matrix, product) else {
      error(
        key, "the values of \(product) matrix tasks take too much memory",
        help: "use fewer or shorter values; 1 KiB for each matrix task is always allowed")
      matrixGroup.emptiness = .unknown
      return matrixGroup
    }
    addProduct(matrix, product, to: &matrixGroup)
    addIncluded(matrix, to: &matrixGroup)
    makeIDs(name, key, &matrixGroup)
    guard matrixGroup.ids.isEmpty else { return matrixGroup }
    matrixGroup.emptiness = .empty
    if let node = matrix.excludeNode, product > 0 {
      if matrix.isOfFiles {
        warning(
          node, "`exclude` removes all matrix tasks",
          help: "opflow skips the task and runs its dependents")
      } else {
        error(node, "`exclude` removes all matrix tasks", help: "remove an item of `exclude`")
        matrixGroup.emptiness = .unknown
      }
    }
    return matrixGroup
  }

  private func reportTooMany(_ matrix: Matrix, _ key: Node, _ room: Int) {
    let counts = matrix.factors.map { "\($0.count)" }.joined(separator: " × ")
    let more = matrix.included.isEmpty ? "" : " + \(matrix.included.count)"
    let product = matrix.productCount.map { matrix.factors.count > 1 ? " = \($0)" : "" }
    let largest = matrix.factors.max { $0.count < $1.count }
    error(
      largest?.node ?? matrix.included.first?.node ?? key,
      "too many matrix tasks: \(counts)\(product ?? "")\(more)",
      help: room == MatrixGroup.mostInstances
        ? "a manifest can have at most \(room)"
        : "a manifest can have at most \(MatrixGroup.mostInstances); \(room) are left here")
  }

  /// The memory limit for values of combinations, beyond 1 KiB each.
  private static let mostBytes = 64 << 20
  /// The memory for one value, in `MatrixGroup` and in the plan.
  private static let valueBytes = MemoryLayout<Int32>.stride + MemoryLayout<TextRef>.stride

  /// A single factor is never too long.
  private func isTooLong(_ matrix: Matrix, _ product: Int) -> Bool {
    if matrix.factors.count < 2 { return false }
    let naming = Set(matrix.namingNames)
    // No overflow: at most a million matrix tasks, and the texts are in memory.
    let instanceBytes = matrix.factors.reduce(0) { sum, factor in
      let width = factor.names.count
      let named = factor.values.indices.reduce(0) { sum, place in
        let isNaming = naming.contains(factor.names.lowerBound + place % max(1, width))
        return sum + (isNaming ? texts[factor.values[place]].count : 0)
      }
      return sum + named / max(1, factor.count) + width * Self.valueBytes
    }
    return instanceBytes * product > Self.mostBytes + product << 10
  }

  // MARK: Combinations

  private func addProduct(_ matrix: Matrix, _ count: Int, to matrixGroup: inout MatrixGroup) {
    let lists = matrix.factors.map { values(of: $0) }
    let excludes = ExcludedValues(matrix.excluded)
    matrixGroup.values.reserveCapacity(count * matrix.names.count)
    var instance: [Int32] = []
    for number in 0..<count {
      instance.removeAll(keepingCapacity: true)
      var rest = number
      var below = count
      for (factor, list) in zip(matrix.factors, lists) {
        below /= factor.count
        let row = rest / below
        rest %= below
        let width = factor.names.count
        instance += list[(row * width)..<((row + 1) * width)]
      }
      if !excludes.take(instance) { matrixGroup.values += instance }
    }
    for item in excludes.unused {
      warning(
        item.node, "this item of `exclude` matches no matrix task",
        help: "opflow compares its values with those of the axes as strings")
    }
  }

  private func values(of factor: Matrix.Factor) -> [Int32] {
    guard let range = factor.range else { return factor.values }
    return range.map { texts.number(of: store.copy("\($0)")) }
  }

  private func addIncluded(_ matrix: Matrix, to matrixGroup: inout MatrixGroup) {
    if matrix.included.isEmpty { return }
    var known = TupleTable()
    let width = matrix.names.count
    let made = matrixGroup.values
    for start in stride(from: 0, to: made.count, by: max(1, width)) {
      _ = known.insert(matrix.namingNames.lazy.map { made[start + $0] })
    }
    for item in matrix.included {
      let instance = item.items.map(\.value)
      guard known.insert(matrix.namingNames.lazy.map { instance[$0] }).isNew else {
        let values = matrix.namingNames.map {
          "\(matrix.names.texts[$0].string)=\(texts[instance[$0]].string)"
        }
        error(
          item.node,
          "a matrix task with \(values.joined(separator: ", ")) already exists",
          help: "`include` adds matrix tasks; it does not change existing ones")
        continue
      }
      matrixGroup.values += instance
    }
  }

  private func makeIDs(_ name: ByteView, _ key: Node, _ matrixGroup: inout MatrixGroup) {
    let (axes, naming, values) = (
      matrixGroup.names.texts, matrixGroup.namingNames, matrixGroup.values
    )
    if axes.isEmpty { return }
    let names = InstanceName(store: scratch)
    var cut = TextTable()
    matrixGroup.ids.reserveCapacity(values.count / axes.count)
    for start in stride(from: 0, to: values.count, by: axes.count) {
      scratch.removeAll()
      let id = store.copy(
        names.make(name, naming.lazy.map { (axes[$0], texts[values[start + $0]]) }))
      if InstanceName.isCut(id), !cut.insert(id).isNew {
        error(
          key, "two matrix tasks get the same shortened ID, `\(id.string)`",
          help: "use shorter values")
      }
      matrixGroup.ids.append(id)
    }
  }
}

/// Grouped by names, for one lookup per group.
private final class ExcludedValues {
  private struct Group {
    var names: [Int]
    var table = TupleTable()
    /// Indices of items, by their number in `table`.
    var items: [Int32: Int] = [:]
  }

  private var groups: [Group] = []
  private var numbers: [[Int]: Int] = [:]
  private let items: [Matrix.Values]
  private var isUsed: [Bool]

  init(_ items: [Matrix.Values]) {
    self.items = items
    isUsed = [Bool](repeating: false, count: items.count)
    for (index, item) in items.enumerated() {
      let sorted = item.items.sorted { $0.name < $1.name }
      let names = sorted.map(\.name)
      let group = numbers[names] ?? groups.count
      if group == groups.count {
        groups.append(Group(names: names))
        numbers[names] = group
      }
      let (number, isNew) = groups[group].table.insert(sorted.map(\.value))
      // A duplicate is not reported as unused.
      if isNew { groups[group].items[number] = index } else { isUsed[index] = true }
    }
  }

  /// Marks matching items.
  func take(_ instance: [Int32]) -> Bool {
    var isTaken = false
    for group in groups {
      guard let number = group.table.find(group.names.lazy.map { instance[$0] }),
        let item = group.items[number]
      else { continue }
      isUsed[item] = true
      isTaken = true
    }
    return isTaken
  }

  var unused: [Matrix.Values] { zip(items, isUsed).filter { !$1 }.map(\.0) }
}

/// Matrices are read before tasks, because a task may need a later one.
struct MatrixGroupReader: NodeReader {
  let values: ValueReader
  private var reader: MatrixReader
  private let maker: MatrixGroupMaker

  /// - Parameter values: Must keep the texts that it reads.
  init(
    _ values: ValueReader, _ sources: ReadSources, _ texts: MatrixTexts, folder: ByteView,
    makesInstances: Bool
  ) {
    self.values = values
    reader = MatrixReader(values, sources, texts, folder: folder, makesInstances: makesInstances)
    maker = MatrixGroupMaker(
      document: values.document, diagnostics: values.diagnostics, texts: texts,
      store: values.scratch)
  }

  /// - Parameter declarations: All of one file.
  mutating func read(
    _ declared: TaskDeclarations, in declarations: Range<Int>, room: inout Int
  ) -> [(declaration: Int, matrixGroup: MatrixGroup)] {
    var matrixGroups: [(declaration: Int, matrixGroup: MatrixGroup)] = []
    for declaration in declarations {
      let key = declared.key(declaration)
      guard let matrix = matrixNode(of: key) else { continue }
      let matrixGroup = read(matrix, of: declared.name(declaration), at: key, room: room)
      room -= matrixGroup.ids.count
      matrixGroups.append((declaration, matrixGroup))
    }
    return matrixGroups
  }

  private mutating func read(_ node: Node, of name: ByteView, at key: Node, room: Int)
    -> MatrixGroup
  {
    scope.taskID = nil
    scope.matrix = MatrixScope(owner: .matrix)
    defer { scope.matrix = MatrixScope() }
    let errorCount = diagnostics.errorCount
    let matrix = reader.read(node)
    guard diagnostics.errorCount == errorCount, !matrix.isWrong else { return unknown(matrix) }
    if matrix.isLater { return later(matrix) }
    var matrixGroup = maker.make(matrix, name: name, key: key, room: room)
    matrixGroup.after = matrix.after
    if diagnostics.errorCount > errorCount { matrixGroup = unknown(matrix) }
    return matrixGroup
  }

  private func unknown(_ matrix: Matrix) -> MatrixGroup { without(matrix, .unknown) }

  private func later(_ matrix: Matrix) -> MatrixGroup {
    var matrixGroup = without(matrix, .later)
    matrixGroup.after = matrix.after
    matrixGroup.laterSources = matrix.laterSources
    matrixGroup.knowsNames = matrix.knowsNames
    return matrixGroup
  }

  private func without(_ matrix: Matrix, _ emptiness: MatrixGroup.Emptiness) -> MatrixGroup {
    var matrixGroup = MatrixGroup()
    matrixGroup.names = matrix.names
    matrixGroup.namingNames = matrix.namingNames
    matrixGroup.emptiness = emptiness
    return matrixGroup
  }

  /// The key may be merged in.
  private func matrixNode(of key: Node) -> Node? {
    guard document.kind(key.value) == .mapping else { return nil }
    var mayHave = false
    var children = document.children(key.value)
    while let name = children.next(), let value = children.next() {
      guard let text = document.scalarText(name) else { continue }
      if text == TaskKey.matrix.name { return value }
      if maps.isMerge(name, text) { mayHave = true }
    }
    guard mayHave else { return nil }
    // The task is read and reported later.
    diagnostics.mute()
    defer { diagnostics.unmute() }
    return maps.fields(key.value, tables.task)[.matrix]
  }
}
