/// Processes of a task that outlived its main process: those that opflow killed, or if it could not
/// kill some, these.
package struct LeftBehind: Sendable, Equatable {
  package var count: Int
  /// Names such as `sleep, python3 (2)`; for living processes `4711 (sleep, user root)`.
  package var names: String
  /// Whether they may still run. The task does not start next to them without a request.
  package var areAlive = false

  private static let maxNames = 5

  package init(count: Int, names: String, areAlive: Bool = false) {
    self.count = count
    self.names = names
    self.areAlive = areAlive
  }

  package init?(_ all: [String], areAlive: Bool = false) {
    if all.isEmpty { return nil }
    self.areAlive = areAlive
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

  init?(text: String) {
    let areAlive = text.hasPrefix(Self.alive)
    let parts = text.dropFirst(areAlive ? Self.alive.count : 0).split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let count = Int(parts[0]), count > 0 else { return nil }
    self.init(count: count, names: String(parts[1]), areAlive: areAlive)
  }

  private static let alive = "alive "

  /// The form in the journal and in messages: `2 sleep, nc` or `alive 1 4711 (sleep, user root)`.
  var text: String { "\(areAlive ? Self.alive : "")\(count) \(names)" }
}
