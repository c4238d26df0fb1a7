internal import OpflowBase

/// Help about a manifest's keys.
package enum ManifestReference {
  /// All keys, one per line.
  package static var list: String {
    var lines = HelpLines()
    lines.paragraphs(
      "A manifest is a YAML file that declares tasks. `opflow help manifest KEY` explains a key, "
        + "with an example.")
    for map in KeyMap.allCases where map != .defaults {
      lines.line("\n\(map.heading)")
      for row in map.keys {
        if map == .task, row.name.description == TaskKey.firstAdvanced.name.description {
          lines.line("\nAdvanced keys of a task:")
        }
        lines.row("  \(row.name)", 18, row.meaning)
      }
    }
    return lines.text
  }

  /// Returns the help about all keys with a name, or about one, as in `retry.max`.
  package static func help(on word: String) throws(UnknownKey) -> String {
    let parts = word.split(separator: ".", omittingEmptySubsequences: false)
    let name = parts.last.map(String.init) ?? ""
    let owner = parts.dropLast().last.map(String.init)
    var lines = HelpLines()
    for meaning in meanings(of: name, in: owner) {
      if !lines.text.isEmpty { lines.line() }
      tell(meaning, into: &lines)
    }
    if lines.text.isEmpty { throw UnknownKey(word, name) }
    return lines.text
  }

  /// The names of all keys.
  package static var names: [String] {
    var names: [String] = []
    for name in KeyMap.allCases.flatMap({ $0.keys.map(\.name.description) })
    where !names.contains(name) { names.append(name) }
    return names
  }

  /// Returns a line for each meaning of a key.
  package static func summary(of word: String) -> String {
    let name = String(word.split(separator: ".").last ?? "")
    var lines = HelpLines()
    lines.line("Manifest key (`opflow help manifest \(word)` shows an example):")
    for meaning in meanings(of: name, in: nil) {
      lines.row("", 2, "\(name), in \(meaning.places): \(meaning.row.meaning)")
    }
    return lines.text
  }

  /// Returns the key for a word of another tool.
  package static func foreignKey(_ word: String) -> String? {
    let store = TextStore()
    return withExtendedLifetime(store) {
      ForeignKeys.key(for: store.copy(word), among: names.map { store.copy($0) })?.string
    }
  }

  /// A key, and the maps where it means the same.
  private struct Meaning {
    let row: KeyRow
    var maps: [KeyMap]

    var places: String { maps.map(\.place).joined(separator: " or ") }
  }

  private static func meanings(of name: String, in owner: String?) -> [Meaning] {
    var meanings: [Meaning] = []
    for map in KeyMap.allCases where owner == nil || map.spelled == owner {
      guard let row = map.keys.first(where: { $0.name.description == name }) else { continue }
      if let same = meanings.firstIndex(where: {
        $0.row.meaning == row.meaning && $0.row.takes.words == row.takes.words
      }) {
        meanings[same].maps.append(map)
      } else {
        meanings.append(Meaning(row: row, maps: [map]))
      }
    }
    return meanings
  }

  private static func tell(_ meaning: Meaning, into lines: inout HelpLines) {
    let row = meaning.row
    lines.line("\(row.name), in \(meaning.places):")
    lines.row("", 2, row.meaning)
    lines.line()
    lines.row("  takes", 12, row.takes.words)
    if !row.standard.isEmpty { lines.row("  default", 12, row.standard) }
    lines.block("  example", 12, row.example)
    for map in row.takes.maps where map != .task && map != .defaults {
      lines.line()
      lines.line("  \(map.heading)")
      for row in map.keys { lines.row("    \(row.name)", 20, row.meaning) }
    }
  }
}

/// An unknown key.
package struct UnknownKey: Error, Equatable, Sendable {
  /// The error message with a suggestion.
  package let message: String

  fileprivate init(_ word: String, _ name: String) {
    let store = TextStore()
    message = withExtendedLifetime(store) {
      let text = store.copy(name)
      let known = ManifestReference.names.map { store.copy($0) }
      let meant =
        known.first { $0.isSame(as: text) } ?? ForeignKeys.key(for: text, among: known)
        ?? Suggestion.nearest(to: text, among: known)
      return "no key `\(word)`"
        + (meant.map { "; did you mean `opflow help manifest \($0.string)`?" }
          ?? "; `opflow help manifest` lists all")
    }
  }
}

extension KeyMap {
  /// The name before the dot in `retry.max`.
  var spelled: String {
    let others: [KeyMap: String] = [
      .need: "needs", .secret: "secrets", .input: "inputs", .axis: "matrix",
    ]
    return others[self] ?? rawValue
  }

  fileprivate var heading: String {
    self == .manifest ? "At the top level:" : "In \(place):"
  }
}

extension ValueShape {
  /// The maps with known keys that the value may be.
  var maps: [KeyMap] {
    switch self {
    case .map(let map): [map] + (map.others?.take.map(\.maps) ?? [])
    case .list(let item, _), .nested(_, let item), .entries(_, let item, _, _),
      .pair(let item):
      item.maps
    case .either(let shapes): shapes.flatMap(\.maps)
    case .text, .line, .script, .scalar, .boolean, .integer, .number, .duration, .size, .speed,
      .amount,
      .hexadecimal, .octal, .address, .expression, .id, .word, .wordOrNumber, .command, .tag, .name:
      []
    }
  }
}
