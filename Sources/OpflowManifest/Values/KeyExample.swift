/// The key table's example of a key, as advice for a wrong value.
enum KeyExample {
  /// Returns nil if maps have different examples for the key, or it has several lines.
  static func help(for subject: Subject) -> String? {
    let name: String
    switch subject {
    case .key(let key), .item(let key): name = key.description
    case .entry(let map, _):
      return map.description == "resources" ? "such as `resources: { cpu: 2, memory: 4GiB }`" : nil
    }
    if name == "run" {
      return "such as `run: make test`, or the words of a list: `run: [make, test]`"
    }
    let examples = Set(
      KeyMap.allCases.flatMap(\.entries).filter { $0.name == name }.map(\.row.example))
    guard examples.count == 1, let lines = examples.first?.split(separator: "\n"),
      let line = lines.first(where: { $0.hasPrefix("\(name): ") }), !line.hasSuffix("|")
    else { return nil }
    return "such as `\(line)`"
  }
}
