package enum ManifestReference {
  package static var list: String {
    var lines = HelpLines()
    lines.line("The keys of a manifest. `opflow help manifest KEY` tells all about one.")
    for map in KeyMap.allCases where map != .defaults {
      lines.line()
      lines.line(map.heading)
      for row in map.keys { lines.row("  \(row.name)", 18, row.meaning) }
    }
    return lines.text
  }

  /// All keys with a name, or one, as in `retry.max`.
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

  package static var names: [String] {
    var names: [String] = []
    for name in KeyMap.allCases.flatMap({ $0.keys.map(\.name.description) })
    where !names.contains(name) { names.append(name) }
    return names
  }

  /// The same meaning in several maps.
  private struct Meaning {
    let row: KeyRow
    var maps: [KeyMap]
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
    let places = meaning.maps.map(\.place).joined(separator: ", or ")
    lines.line("\(row.name), in \(places):")
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

package struct UnknownKey: Error, Equatable, Sendable {
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
    if self == .manifest { return "At the top:" }
    return self == .task ? "In a task (and in `defaults` those that it takes):" : "In \(place):"
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

struct HelpLines {
  private(set) var text = ""

  mutating func line(_ line: String = "") { text += line + "\n" }

  /// The description is wrapped from `column` on.
  mutating func row(_ left: String, _ column: Int, _ right: String) {
    var line = left.padded(to: column - 1) + " "
    var isEmpty = true
    for word in right.split(separator: " ") {
      if !isEmpty, line.count + 1 + word.count > 80 {
        text += line + "\n"
        line = String(repeating: " ", count: column)
        isEmpty = true
      }
      line += isEmpty ? word : " " + word
      isEmpty = false
    }
    text += line + "\n"
  }

  mutating func block(_ left: String, _ column: Int, _ block: String) {
    var left = left
    for line in block.split(separator: "\n", omittingEmptySubsequences: false) {
      text += left.padded(to: column) + line + "\n"
      left = ""
    }
  }
}

extension String {
  fileprivate func padded(to count: Int) -> String {
    self + String(repeating: " ", count: max(0, count - self.count))
  }
}
