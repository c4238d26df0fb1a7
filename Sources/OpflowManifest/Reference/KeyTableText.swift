/// The manual's key tables in Markdown.
package enum KeyTableText {
  /// The names of all tables.
  package static var names: [String] { KeyMap.allCases.map(\.rawValue) }

  /// Returns nil for an unknown name.
  package static func table(_ name: String) -> String? {
    guard let map = KeyMap(rawValue: name) else { return nil }
    var text = "| key | takes | default | meaning |\n| --- | --- | --- | --- |\n"
    for entry in map.entries {
      let cells = [
        "`\(entry.name)`", entry.row.takes.words, entry.row.standard, entry.row.meaning,
      ]
      text += "|" + cells.map { $0.isEmpty ? " |" : " \($0) |" }.joined() + "\n"
    }
    return text
  }
}
