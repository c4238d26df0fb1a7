internal import OpflowPlan

/// A matrix that a task needs, of the manifest or of the run.
struct NeededFamily {
  /// Counts those of the run behind those of the manifest.
  let number: Int
  let family: Family
  let firstTask: Int
}

struct FamilyNeeds {
  let mistakes: Mistakes
  let suggestions: Suggestions
  let texts: MatrixTexts
  private let store = TextStore()
  /// For each matrix and condition, the digest of a need for the whole matrix.
  private var wholeDigests: [Int: [NeedCondition: UInt64]] = [:]
  private var indices: [IndexKey: LegIndex] = [:]
  /// For each matrix, the bracketed parts of shortened IDs.
  private var cutIDs: [Int: [String: Int]] = [:]

  private struct IndexKey: Hashable {
    var family: Int
    var names: [Int]
  }

  private struct LegIndex {
    var table = TupleTable()
    /// Matrix tasks, by the number of their values in `table`.
    var legs: [Int32: [Int32]] = [:]
  }

  /// `written` is nil for the dependent's own value.
  private struct WantedValue {
    var name: Int
    var value: Int32
    var written: Text?
  }

  /// The size of all indices together. At the limit, all are dropped.
  private var indexedCount = 0
  private static let mostIndexed = 10_000_000

  struct Needer {
    var name: Text
    /// The matrix and the index of the dependent; nil for a single task.
    var leg: (family: Family, number: Int)?
  }

  init(mistakes: Mistakes, suggestions: Suggestions, texts: MatrixTexts) {
    self.mistakes = mistakes
    self.suggestions = suggestions
    self.texts = texts
  }

  /// Returns what a need for a whole matrix adds to a fingerprint.
  mutating func digest(of needed: NeededFamily, _ condition: NeedCondition) -> UInt64 {
    if let known = wholeDigests[needed.number]?[condition] { return known }
    let digest = needed.family.ids.reduce(0) { $0 &+ Digest.need($1, condition) }
    wholeDigests[needed.number, default: [:]][condition] = digest
    return digest
  }

  /// Returns the selected matrix tasks; nil, after an error, if there are none.
  mutating func legs(
    _ selector: LegSelector, written text: Text, of needed: NeededFamily, for needer: Needer,
    at place: Place
  ) -> [Int32]? {
    let (number, family) = (needed.number, needed.family)
    if LegName.isCut(text), let leg = cutLeg(text, of: number, family) { return [leg] }
    guard let wanted = values(selector, family, for: needer, at: place) else { return nil }
    let names = wanted.map(\.name)
    let index = index(of: number, family, names: names)
    if let key = index.table.find(wanted.lazy.map(\.value)), let legs = index.legs[key] {
      return legs
    }
    reportNone(selector, wanted, family, needer, place)
    return nil
  }

  private mutating func cutLeg(_ id: Text, of number: Int, _ family: Family) -> Int32? {
    if cutIDs[number] == nil {
      var ids: [String: Int] = [:]
      for (leg, id) in family.ids.enumerated() where LegName.isCut(id) {
        ids[Self.brackets(of: id)] = leg
      }
      cutIDs[number] = ids
    }
    return cutIDs[number]?[Self.brackets(of: id)].map { Int32(truncatingIfNeeded: $0) }
  }

  /// Returns the bracketed part. What is before it may be shorter in another file.
  private static func brackets(of id: Text) -> String {
    id.part((id.firstIndex(of: UInt8(ascii: "[")) ?? 0)..<id.count).string
  }

  private mutating func index(of number: Int, _ family: Family, names: [Int]) -> LegIndex {
    let key = IndexKey(family: number, names: names)
    if let known = indices[key] { return known }
    if indexedCount > Self.mostIndexed {
      indices.removeAll()
      indexedCount = 0
    }
    indexedCount += family.ids.count
    var index = LegIndex()
    for leg in family.ids.indices {
      let (number, _) = index.table.insert(names.lazy.map { family.value($0, of: leg) })
      index.legs[number, default: []].append(Int32(truncatingIfNeeded: leg))
    }
    indices[key] = index
    return index
  }

  /// Returns the required values sorted by name; nil after an error.
  private func values(
    _ selector: LegSelector, _ family: Family, for needer: Needer, at place: Place
  ) -> [WantedValue]? {
    var wanted: [WantedValue] = []
    for part in selector.parts {
      let axis = part.axis.string
      guard let name = family.names.index(of: part.axis) else {
        mistakes.error(
          place, "the `matrix` of `\(selector.family.string)` has no `\(axis)`",
          help: suggestions.help(for: part.axis, among: family.names.texts)
            ?? Suggestion.names(family.names.texts))
        return nil
      }
      if let written = part.value {
        let value = texts.knownNumber(of: LegName.unescaped(written, store: store)) ?? -1
        wanted.append(WantedValue(name: name, value: value, written: written))
        continue
      }
      guard let leg = needer.leg else {
        mistakes.error(
          place, "`\(needer.name.string)` has no `matrix` to join `\(selector.family.string)` by",
          help: "name the legs: `\(selector.family.string)[\(axis)=…]`, or all of them:"
            + " `\(selector.family.string)`")
        return nil
      }
      guard let own = leg.family.names.index(of: part.axis) else {
        mistakes.error(
          place, "the task's own `matrix` has no `\(axis)` to join `\(selector.family.string)` by",
          help: suggestions.help(for: part.axis, among: leg.family.names.texts)
            ?? Suggestion.names(leg.family.names.texts))
        return nil
      }
      wanted.append(WantedValue(name: name, value: leg.family.value(own, of: leg.number)))
    }
    wanted.sort { $0.name < $1.name }
    if let twice = zip(wanted, wanted.dropFirst()).first(where: { $0.name == $1.name })?.0.name {
      mistakes.error(
        place,
        "`\(family.names.texts[twice].string)` stands twice in what is needed of"
          + " `\(selector.family.string)`")
      return nil
    }
    return wanted
  }

  private func reportNone(
    _ selector: LegSelector, _ wanted: [WantedValue], _ family: Family, _ needer: Needer,
    _ place: Place
  ) {
    let isJoin = selector.parts.contains { $0.value == nil }
    let parts = wanted.map {
      "\(family.names.texts[$0.name].string)=\(($0.written ?? texts[$0.value]).string)"
    }
    mistakes.error(
      place,
      "no leg of `\(selector.family.string)` has \(parts.joined(separator: ", "))"
        + (isJoin ? ", which `\(needer.name.string)` needs" : ""),
      help: nearestHelp(selector, wanted, family)
        ?? (isJoin
          ? "every leg of a task that joins needs a partner: `exclude` it, or add one" : nil))
  }

  private func nearestHelp(
    _ selector: LegSelector, _ wanted: [WantedValue], _ family: Family
  ) -> String? {
    for want in wanted {
      guard let value = want.written else { continue }
      var seen: Set<Int32> = []
      for leg in family.ids.indices where seen.count < 1000 {
        seen.insert(family.value(want.name, of: leg))
      }
      if seen.contains(want.value) { continue }
      if let nearest = suggestions.nearest(to: value, among: seen.sorted().map { texts[$0] }) {
        let axis = family.names.texts[want.name].string
        return "did you mean `\(selector.family.string)[\(axis)=\(nearest.string)]`?"
      }
    }
    return nil
  }
}
