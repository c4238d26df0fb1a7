internal import OpflowPlan

/// Makes matrix tasks: all combinations, minus `exclude`, plus `include`. The last axis varies
/// fastest. Limits are checked before anything is made.
struct FamilyMaker: Reporter {
  let document: YAMLDocument
  let mistakes: Mistakes
  let texts: MatrixTexts
  let store: TextStore
  /// Owns an ID before it is shortened.
  private let scratch = TextStore()

  /// - Parameter room: The most matrix tasks allowed.
  func make(_ matrix: Matrix, name: Text, key: Node, room: Int) -> Family {
    var family = Family()
    family.names = matrix.names
    family.namingNames = matrix.namingNames
    family.files = matrix.files
    guard let product = matrix.productCount, product + matrix.included.count <= room else {
      reportTooMany(matrix, key, room)
      family.emptiness = .unknown
      return family
    }
    guard !isTooLong(matrix, product) else {
      error(
        key, "the values of \(product) legs take too much memory",
        help: "combine fewer or shorter values: 1 KiB for each leg is always allowed")
      family.emptiness = .unknown
      return family
    }
    addProduct(matrix, product, to: &family)
    addIncluded(matrix, to: &family)
    makeIDs(name, key, &family)
    guard family.ids.isEmpty else { return family }
    family.emptiness = .empty
    if let node = matrix.excludeNode, product > 0 {
      if matrix.isOfFiles {
        warning(
          node, "`exclude` leaves no leg", help: "the task is skipped, and what needs it runs")
      } else {
        error(node, "`exclude` leaves no leg")
        family.emptiness = .unknown
      }
    }
    return family
  }

  private func reportTooMany(_ matrix: Matrix, _ key: Node, _ room: Int) {
    let counts = matrix.factors.map { "\($0.count)" }.joined(separator: " × ")
    let more = matrix.included.isEmpty ? "" : " + \(matrix.included.count)"
    let product = matrix.productCount.map { matrix.factors.count > 1 ? " = \($0)" : "" }
    let largest = matrix.factors.max { $0.count < $1.count }
    error(
      largest?.node ?? matrix.included.first?.node ?? key,
      "too many legs: \(counts)\(product ?? "")\(more)",
      help: room == Family.mostLegs
        ? "a manifest has at most \(room)"
        : "a manifest has at most \(Family.mostLegs), of which \(room) are left here")
  }

  /// The memory limit for values of combinations, beyond 1 KiB each.
  private static let mostBytes = 64 << 20
  /// The memory for one value in `Family` and in the plan.
  private static let valueBytes = MemoryLayout<Int32>.stride + MemoryLayout<TextRef>.stride

  /// Whether combinations are much larger than their values; a single factor never is.
  private func isTooLong(_ matrix: Matrix, _ product: Int) -> Bool {
    if matrix.factors.count < 2 { return false }
    let naming = Set(matrix.namingNames)
    // This cannot overflow: there are at most a million matrix tasks, and the texts are in memory.
    let legBytes = matrix.factors.reduce(0) { sum, factor in
      let width = factor.names.count
      let named = factor.values.indices.reduce(0) { sum, place in
        let isNaming = naming.contains(factor.names.lowerBound + place % max(1, width))
        return sum + (isNaming ? texts[factor.values[place]].count : 0)
      }
      return sum + named / max(1, factor.count) + width * Self.valueBytes
    }
    return legBytes * product > Self.mostBytes + product << 10
  }

  // MARK: Combinations

  private func addProduct(_ matrix: Matrix, _ count: Int, to family: inout Family) {
    let lists = matrix.factors.map { values(of: $0) }
    let excludes = ExcludedValues(matrix.excluded)
    family.values.reserveCapacity(count * matrix.names.count)
    var leg: [Int32] = []
    for number in 0..<count {
      leg.removeAll(keepingCapacity: true)
      var rest = number
      var below = count
      for (factor, list) in zip(matrix.factors, lists) {
        below /= factor.count
        let row = rest / below
        rest %= below
        let width = factor.names.count
        leg += list[(row * width)..<((row + 1) * width)]
      }
      if !excludes.take(leg) { family.values += leg }
    }
    for item in excludes.unused {
      warning(
        item.node, "this item of `exclude` fits no leg",
        help: "its values are compared with those of the axes as texts")
    }
  }

  private func values(of factor: Matrix.Factor) -> [Int32] {
    guard let range = factor.range else { return factor.values }
    return range.map { texts.number(of: store.copy("\($0)")) }
  }

  private func addIncluded(_ matrix: Matrix, to family: inout Family) {
    if matrix.included.isEmpty { return }
    var known = TupleTable()
    let width = matrix.names.count
    let made = family.values
    for start in stride(from: 0, to: made.count, by: max(1, width)) {
      _ = known.insert(matrix.namingNames.lazy.map { made[start + $0] })
    }
    for item in matrix.included {
      let leg = item.items.map(\.value)
      guard known.insert(matrix.namingNames.lazy.map { leg[$0] }).isNew else {
        let values = matrix.namingNames.map {
          "\(matrix.names.texts[$0].string)=\(texts[leg[$0]].string)"
        }
        error(
          item.node,
          "there is a leg with \(values.joined(separator: ", ")) already: two would be alike",
          help: "`include` adds whole legs, and changes none")
        continue
      }
      family.values += leg
    }
  }

  private func makeIDs(_ name: Text, _ key: Node, _ family: inout Family) {
    let (axes, naming, values) = (family.names.texts, family.namingNames, family.values)
    if axes.isEmpty { return }
    let names = LegName(store: scratch)
    var cut = TextTable()
    family.ids.reserveCapacity(values.count / axes.count)
    for start in stride(from: 0, to: values.count, by: axes.count) {
      scratch.removeAll()
      let id = store.copy(
        names.make(name, naming.lazy.map { (axes[$0], texts[values[start + $0]]) }))
      if LegName.isCut(id), !cut.insert(id).isNew {
        error(key, "two legs have one id, `\(id.string)`, since their values are long")
      }
      family.ids.append(id)
    }
  }
}

/// The items of `exclude`, grouped by their names, for one lookup per group.
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

  /// Whether a combination is excluded; marks matching items.
  func take(_ leg: [Int32]) -> Bool {
    var isTaken = false
    for group in groups {
      guard let number = group.table.find(group.names.lazy.map { leg[$0] }),
        let item = group.items[number]
      else { continue }
      isUsed[item] = true
      isTaken = true
    }
    return isTaken
  }

  var unused: [Matrix.Values] { zip(items, isUsed).filter { !$1 }.map(\.0) }
}

/// Finds and expands matrices before tasks are read, because a task may need a later one.
struct FamilyReader: NodeReader {
  let values: ValueReader
  private var reader: MatrixReader
  private let maker: FamilyMaker

  /// - Parameter values: Must keep the texts that it reads.
  init(
    _ values: ValueReader, _ sources: ReadSources, _ texts: MatrixTexts, folder: Text,
    makesLegs: Bool
  ) {
    self.values = values
    reader = MatrixReader(values, sources, texts, folder: folder, makesLegs: makesLegs)
    maker = FamilyMaker(
      document: values.document, mistakes: values.mistakes, texts: texts, store: values.scratch)
  }

  /// - Parameter declarations: Those of one file.
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

  private mutating func read(_ node: Node, of name: Text, at key: Node, room: Int) -> Family {
    scope.taskID = nil
    scope.matrix = MatrixScope(owner: .matrix)
    defer { scope.matrix = MatrixScope() }
    let errorCount = mistakes.errorCount
    let matrix = reader.read(node)
    guard mistakes.errorCount == errorCount, !matrix.isWrong else { return unknown(matrix) }
    if matrix.isLater { return later(matrix) }
    var family = maker.make(matrix, name: name, key: key, room: room)
    family.after = matrix.after
    if mistakes.errorCount > errorCount { family = unknown(matrix) }
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
    mistakes.mute()
    defer { mistakes.unmute() }
    return maps.fields(key.value, tables.task)[.matrix]
  }
}
