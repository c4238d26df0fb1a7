/// Processes that a task left behind when its own had ended, and that were ended with it.
package struct LeftBehind: Sendable, Equatable {
  package var count: Int
  /// What they are called: `sleep, python3 (2)`.
  package var names: String

  private static let maxNames = 5

  package init(count: Int, names: String) {
    self.count = count
    self.names = names
  }

  /// Nil for none.
  package init?(_ all: [String]) {
    if all.isEmpty { return nil }
    var names: [String] = []
    var counts: [String: Int] = [:]
    for name in all {
      if counts[name] == nil { names.append(name) }
      counts[name, default: 0] += 1
    }
    let shown = names.prefix(Self.maxNames).map { name in
      counts[name] == 1 ? name : "\(name) (\(counts[name] ?? 0))"
    }
    count = all.count
    self.names =
      shown.joined(separator: ", ") + (names.count > Self.maxNames ? " and others" : "")
  }

  /// From what journal and wire have; nil where it says nothing that makes sense.
  init?(text: String) {
    let parts = text.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let count = Int(parts[0]), count > 0 else { return nil }
    self.init(count: count, names: String(parts[1]))
  }

  /// As journal and wire have it: `2 sleep, nc`.
  var text: String { "\(count) \(names)" }
}
