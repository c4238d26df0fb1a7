/// Limits the work for suggestions: a thousand wrong names among a million would take minutes.
final class Suggestions {
  private var left = 500_000

  /// Nil if no name is near enough or the limit is reached.
  func nearest(to name: ByteView, among names: some Sequence<ByteView>) -> ByteView? {
    guard left > 0 else { return nil }
    let counted = names.lazy.map { name in
      self.left -= 1
      return name
    }
    return Suggestion.nearest(to: name, among: counted)
  }

  func help(for name: ByteView, among names: some Sequence<ByteView>) -> String? {
    nearest(to: name, among: names).map { Suggestion.text($0) }
  }
}

enum Suggestion {
  /// Allows one edit per three characters, at least one, at most three.
  static func nearest(to name: ByteView, among names: some Sequence<ByteView>) -> ByteView? {
    if name.count > 255 { return nil }
    var best: ByteView?
    var bestDistance = max(1, min(name.count / 3, 3)) + 1
    for candidate in names where abs(candidate.count - name.count) < bestDistance {
      let distance = distance(name, candidate, limit: bestDistance)
      if distance < bestDistance {
        bestDistance = distance
        best = candidate
      }
    }
    return best
  }

  static func names(_ known: some Collection<ByteView>) -> String {
    list(known, after: "known names:")
  }

  static func list(_ known: some Collection<ByteView>, after beginning: String) -> String {
    let shown = known.prefix(mostNames).map(\.string).joined(separator: ", ")
    let more = known.count - mostNames
    return "\(beginning) \(shown)" + (more > 0 ? " … and \(more) more" : "")
  }

  private static let mostNames = 20

  static func text(_ name: ByteView) -> String { "did you mean `\(name.string)`?" }

  /// Insertions, deletions, replacements and swaps (optimal string alignment), ignoring case, up to
  /// `limit`.
  static func distance(_ a: ByteView, _ b: ByteView, limit: Int) -> Int {
    var beforeLast = [Int](repeating: 0, count: b.count + 1)
    var last = Array(0...b.count)
    var current = beforeLast
    for i in 0..<a.count {
      current[0] = i + 1
      var smallest = current[0]
      for j in 0..<b.count {
        let cost = lower(a[i]) == lower(b[j]) ? 0 : 1
        var value = min(last[j] + cost, last[j + 1] + 1, current[j] + 1)
        if i > 0, j > 0, lower(a[i]) == lower(b[j - 1]), lower(a[i - 1]) == lower(b[j]) {
          value = min(value, beforeLast[j - 1] + 1)
        }
        current[j + 1] = value
        smallest = min(smallest, value)
      }
      if smallest >= limit { return limit }
      (beforeLast, last, current) = (last, current, beforeLast)
    }
    return min(last[b.count], limit)
  }

  private static func lower(_ byte: UInt8) -> UInt8 {
    byte >= 65 && byte <= 90 ? byte + 32 : byte
  }
}
