package enum NearestName {
  /// A candidate that differs only in case wins.
  package static func of(_ word: String, among candidates: some Sequence<String>) -> String? {
    let length = word.utf8.count
    guard length <= 64 else { return nil }
    let lowercased = word.lowercased()
    let limit = length <= 2 ? 1 : length <= 5 ? 2 : 3
    var best: (name: String, distance: Int)?
    for candidate in candidates {
      if candidate.utf8.count == length, candidate.lowercased() == lowercased { return candidate }
      let distance = distance(Array(word.utf8), Array(candidate.utf8))
      if distance >= max(length, candidate.utf8.count) { continue }
      if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    return best?.name
  }

  /// Optimal string alignment: edits and swaps of neighbors.
  private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var before = [Int](repeating: 0, count: b.count + 1)
    var previous = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      row.reserveCapacity(b.count + 1)
      for j in b.indices {
        let change = previous[j] + (a[i] == b[j] ? 0 : 1)
        var best = min(change, previous[j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, before[j - 1] + 1) }
        row.append(best)
      }
      before = previous
      previous = row
    }
    return previous[b.count]
  }
}

/// A pattern for task IDs: `*` matches any bytes, including `/`, and `?` one character.
package struct Glob {
  private let pattern: [UInt8]

  package init(_ pattern: String) { self.pattern = Array(pattern.utf8) }

  package static func isPattern(_ text: String) -> Bool {
    text.utf8.contains { $0 == star || $0 == question }
  }

  private static let star = UInt8(ascii: "*")
  private static let question = UInt8(ascii: "?")

  /// Takes at most the product of both lengths in steps.
  package func matches(_ text: UnsafeRawBufferPointer) -> Bool {
    var place = 0
    var position = 0
    var retry: (place: Int, position: Int)?
    while position < text.count {
      if place < pattern.count, pattern[place] == Self.star {
        retry = (place + 1, position)
        place += 1
      } else if place < pattern.count, pattern[place] == Self.question {
        place += 1
        position = Self.endOfCharacter(text, from: position)
      } else if place < pattern.count, pattern[place] == text[position] {
        place += 1
        position += 1
      } else if let last = retry {
        // The last `*` takes one more byte.
        retry = (last.place, last.position + 1)
        place = last.place
        position = last.position + 1
      } else {
        return false
      }
    }
    return pattern[place...].allSatisfy { $0 == Self.star }
  }

  private static func endOfCharacter(_ text: UnsafeRawBufferPointer, from position: Int) -> Int {
    var end = position + 1
    while end < text.count, text[end] & 0xC0 == 0x80 { end += 1 }
    return end
  }
}
