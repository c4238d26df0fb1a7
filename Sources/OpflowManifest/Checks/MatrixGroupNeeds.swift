internal import OpflowPlan

/// A matrix of the manifest or of the run.
struct NeededMatrixGroup {
  /// Matrices of the run are numbered after those of the manifest.
  let number: Int
  let matrixGroup: MatrixGroup
  let firstTask: Int
}

struct MatrixGroupNeeds {
  let diagnostics: Diagnostics
  let suggestions: Suggestions
  let texts: MatrixTexts
  private let store = TextStore()
  /// Digests of needs for whole matrices.
  private var wholeDigests: [Int: [NeedCondition: UInt64]] = [:]
  private var indices: [IndexKey: InstanceIndex] = [:]
  /// The bracketed parts of shortened IDs, by matrix.
  private var cutIDs: [Int: [String: Int]] = [:]

  private struct IndexKey: Hashable {
    var matrixGroup: Int
    var names: [Int]
  }

  private struct InstanceIndex {
    var table = TupleTable()
    /// Matrix tasks, by the number of their values in `table`.
    var instances: [Int32: [Int32]] = [:]
  }

  /// `written` is nil for the dependent's own value.
  private struct WantedValue {
    var name: Int
    var value: Int32
    var written: ByteView?
  }

  /// The size of all indices. At the limit, all are dropped.
  private var indexedCount = 0
  private static let mostIndexed = 10_000_000

  struct Needer {
    var name: ByteView
    /// Nil for a single task.
    var instance: (matrixGroup: MatrixGroup, number: Int)?
  }

  init(diagnostics: Diagnostics, suggestions: Suggestions, texts: MatrixTexts) {
    self.diagnostics = diagnostics
    self.suggestions = suggestions
    self.texts = texts
  }

  /// The share of a need for a whole matrix in a fingerprint.
  mutating func digest(of needed: NeededMatrixGroup, _ condition: NeedCondition) -> UInt64 {
    if let known = wholeDigests[needed.number]?[condition] { return known }
    let digest = needed.matrixGroup.ids.reduce(0) { $0 &+ Digest.need($1, condition) }
    wholeDigests[needed.number, default: [:]][condition] = digest
    return digest
  }

  /// Returns nil after an error.
  mutating func instances(
    _ selector: InstanceSelector, written text: ByteView, of needed: NeededMatrixGroup,
    for needer: Needer, at place: Place
  ) -> [Int32]? {
    let (number, matrixGroup) = (needed.number, needed.matrixGroup)
    if InstanceName.isCut(text), let instance = cutInstance(text, of: number, matrixGroup) {
      return [instance]
    }
    guard let wanted = values(selector, matrixGroup, for: needer, at: place) else { return nil }
    let names = wanted.map(\.name)
    let index = index(of: number, matrixGroup, names: names)
    if let key = index.table.find(wanted.lazy.map(\.value)), let instances = index.instances[key] {
      return instances
    }
    reportNone(selector, wanted, matrixGroup, needer, place)
    return nil
  }

  private mutating func cutInstance(_ id: ByteView, of number: Int, _ matrixGroup: MatrixGroup)
    -> Int32?
  {
    if cutIDs[number] == nil {
      var ids: [String: Int] = [:]
      for (instance, id) in matrixGroup.ids.enumerated() where InstanceName.isCut(id) {
        ids[Self.brackets(of: id)] = instance
      }
      cutIDs[number] = ids
    }
    return cutIDs[number]?[Self.brackets(of: id)].map { Int32(truncatingIfNeeded: $0) }
  }

  /// The part before the brackets may be shorter in another file.
  private static func brackets(of id: ByteView) -> String {
    id.part((id.firstIndex(of: UInt8(ascii: "[")) ?? 0)..<id.count).string
  }

  private mutating func index(of number: Int, _ matrixGroup: MatrixGroup, names: [Int])
    -> InstanceIndex
  {
    let key = IndexKey(matrixGroup: number, names: names)
    if let known = indices[key] { return known }
    if indexedCount > Self.mostIndexed {
      indices.removeAll()
      indexedCount = 0
    }
    indexedCount += matrixGroup.ids.count
    var index = InstanceIndex()
    for instance in matrixGroup.ids.indices {
      let (number, _) = index.table.insert(names.lazy.map { matrixGroup.value($0, of: instance) })
      index.instances[number, default: []].append(Int32(truncatingIfNeeded: instance))
    }
    indices[key] = index
    return index
  }

  private func values(
    _ selector: InstanceSelector, _ matrixGroup: MatrixGroup, for needer: Needer, at place: Place
  ) -> [WantedValue]? {
    var wanted: [WantedValue] = []
    for part in selector.parts {
      let axis = part.axis.string
      guard let name = matrixGroup.names.index(of: part.axis) else {
        diagnostics.error(
          place, "the `matrix` of `\(selector.matrixGroup.string)` has no name `\(axis)`",
          help: suggestions.help(for: part.axis, among: matrixGroup.names.texts)
            ?? Suggestion.names(matrixGroup.names.texts))
        return nil
      }
      if let written = part.value {
        let value = texts.knownNumber(of: InstanceName.unescaped(written, store: store)) ?? -1
        wanted.append(WantedValue(name: name, value: value, written: written))
        continue
      }
      guard let instance = needer.instance else {
        diagnostics.error(
          place,
          "`\(selector.matrixGroup.string)[\(axis)]` selects by the task's own `\(axis)`, but"
            + " `\(needer.name.string)` has no `matrix`",
          help: "select by value, `\(selector.matrixGroup.string)[\(axis)=…]`, or need all its"
            + " tasks: `\(selector.matrixGroup.string)`")
        return nil
      }
      guard let own = instance.matrixGroup.names.index(of: part.axis) else {
        diagnostics.error(
          place,
          "`\(selector.matrixGroup.string)[\(axis)]` selects by the task's own `\(axis)`, but its"
            + " `matrix` has no name `\(axis)`",
          help: suggestions.help(for: part.axis, among: instance.matrixGroup.names.texts)
            ?? Suggestion.names(instance.matrixGroup.names.texts))
        return nil
      }
      wanted.append(
        WantedValue(name: name, value: instance.matrixGroup.value(own, of: instance.number)))
    }
    wanted.sort { $0.name < $1.name }
    if let twice = zip(wanted, wanted.dropFirst()).first(where: { $0.name == $1.name })?.0.name {
      diagnostics.error(
        place,
        "`\(selector.matrixGroup.string)[…]` names"
          + " `\(matrixGroup.names.texts[twice].string)` twice",
        help: "remove one of them")
      return nil
    }
    return wanted
  }

  private func reportNone(
    _ selector: InstanceSelector, _ wanted: [WantedValue], _ matrixGroup: MatrixGroup,
    _ needer: Needer, _ place: Place
  ) {
    let isJoin = selector.parts.contains { $0.value == nil }
    let parts = wanted.map {
      "\(matrixGroup.names.texts[$0.name].string)=\(($0.written ?? texts[$0.value]).string)"
    }
    diagnostics.error(
      place,
      "`\(selector.matrixGroup.string)` has no task with \(parts.joined(separator: ", "))"
        + (isJoin ? ", which `\(needer.name.string)` needs" : ""),
      help: valuesHelp(selector, wanted, matrixGroup)
        ?? (isJoin
          ? "add it to the `matrix` of `\(selector.matrixGroup.string)`, or `exclude` the task that"
            + " needs it"
          : "these values exist, but no task of `\(selector.matrixGroup.string)` combines them"))
  }

  /// Lists the values of the first name that lacks the wanted one.
  private func valuesHelp(
    _ selector: InstanceSelector, _ wanted: [WantedValue], _ matrixGroup: MatrixGroup
  ) -> String? {
    for want in wanted {
      guard let value = want.written else { continue }
      var seen: Set<Int32> = []
      for instance in matrixGroup.ids.indices where seen.count < 1000 {
        seen.insert(matrixGroup.value(want.name, of: instance))
      }
      if seen.contains(want.value) { continue }
      let axis = matrixGroup.names.texts[want.name].string
      let known = seen.sorted().map { texts[$0] }
      let nearest = suggestions.nearest(to: value, among: known).map {
        "; did you mean `\(selector.matrixGroup.string)[\(axis)=\($0.string)]`?"
      }
      return Suggestion.list(known, after: "the values of `\(axis)` are") + (nearest ?? "")
    }
    return nil
  }
}
