/// Matches the rest of long words after their heads (Knuth, Morris and Pratt, SIAM J. Comput. 6,
/// 1977).
struct TailReader: Equatable, Sendable {
  struct Follower: Equatable, Sendable {
    let word: Int
    /// At least the head's length.
    var matched: Int
  }

  private(set) var followers: [Follower] = []

  @inline(__always)
  var isEmpty: Bool { followers.isEmpty }

  var longest: Int { followers.lazy.map(\.matched).max() ?? 0 }

  /// Returns the length of the longest word that ends with the byte, or 0.
  mutating func take(_ byte: UInt8, _ automaton: WordAutomaton, _ borders: inout Borders) -> Int {
    let byte = WordAutomaton.folded(byte)
    var found = 0
    for place in followers.indices {
      let number = followers[place].word
      let word = automaton.longWords[number]
      var matched = followers[place].matched
      while matched > 0, matched == word.count || word[matched] != byte {
        matched = borders.border(of: matched, in: number, automaton)
      }
      if word[matched] == byte { matched += 1 }
      followers[place].matched = matched
      if matched == word.count { found = max(found, matched) }
    }
    // The automaton tracks shorter prefixes.
    followers.removeAll { $0.matched < WordAutomaton.headBytes }
    return found
  }

  mutating func follow(_ word: Int) {
    if followers.contains(where: { $0.word == word }) { return }
    followers.append(Follower(word: word, matched: WordAutomaton.headBytes))
  }
}

/// Maps each prefix of one long word to the next shorter prefix that ends it; computed at the first
/// mismatch.
struct Borders: Sendable {
  private var word = -1
  private var lengths: [Int32] = []

  mutating func border(of length: Int, in number: Int, _ automaton: WordAutomaton) -> Int {
    if word != number {
      word = number
      lengths = Self.lengths(automaton.longWords[number])
    }
    return Int(lengths[length])
  }

  private static func lengths(_ word: [UInt8]) -> [Int32] {
    var lengths = [Int32](repeating: 0, count: word.count + 1)
    var matched = 0
    for place in 1..<word.count {
      while matched > 0, word[matched] != word[place] { matched = Int(lengths[matched]) }
      if word[matched] == word[place] { matched += 1 }
      lengths[place + 1] = Int32(matched)
    }
    return lengths
  }
}
