// Many words at once
// ==================
//
// The automaton of Aho and Corasick (CACM 18, 1975): a state is the longest prefix of a word that
// ends the input. States are numbered by depth. Shallow states, the most frequent, have a row with
// a successor per byte class. Deep states have edges to their children and fall back to the state
// of the next shorter prefix.
//
// A value can have 64 KiB and needs ten words, so the automaton holds only their heads;
// `TailReader` compares the rest.
//
// Space and `+` are the same byte: forms encode one as the other.

/// Finds words in streams. Immutable, and a class so that all maskers share it.
final class WordAutomaton: @unchecked Sendable {
  // SAFETY: @unchecked, because the tables are only read between init and deinit.

  typealias State = Int32
  static let headBytes = 32
  /// Keeps the rows in the processor's caches.
  private static let mostRowEntries = 1 << 17
  /// A flag in `classes`: the byte can start an escape.
  static let lead: UInt16 = 1 << 15

  private let classes: UnsafeMutablePointer<UInt16>
  private let classCount: Int
  private let rows: UnsafeMutablePointer<State>
  private let rowCount: Int
  private let edgeStarts: [Int32]
  private let edgeClasses: [UInt16]
  private let edgeTargets: [State]
  private let fallbacks: [State]
  private let reaches: [UInt8]
  /// Per state: the length of the longest word that ends there; the maximum if a head ends there.
  private let ends: UnsafeMutablePointer<UInt8>
  private let longest: [UInt8]
  /// Per state: the first of `tails` with a head that ends there; -1 for none.
  private let firstTails: [Int32]
  private let tails: [(word: Int, next: Int32)]
  let longWords: [[UInt8]]
  let longestWordBytes: Int

  init(words: [[UInt8]], leads: [UInt8]) {
    let words = Self.distinct(words.map { $0.map(Self.folded) })
    longWords = words.filter { $0.count > Self.headBytes }
    longestWordBytes = words.lazy.map(\.count).max() ?? 0
    var trie = Trie()
    for word in words where word.count <= Self.headBytes { trie.insertEnd(of: word) }
    for (number, word) in longWords.enumerated() {
      trie.insertHead(word.prefix(Self.headBytes), of: number)
    }

    classes = .allocate(capacity: 256)
    classes.initialize(repeating: 0, count: 256)
    var count = 1
    for byte in 0..<256 where trie.usesByte[byte] {
      classes[byte] = UInt16(count)
      count += 1
    }
    classCount = count
    classes[Int(UInt8(ascii: "+"))] = classes[32]
    for byte in leads { classes[Int(byte)] |= Self.lead }

    var layout = TrieLayout(trie, mostRows: max(1, Self.mostRowEntries / count))
    layout.lay { [classes] in classes[Int($0)] & ~Self.lead }
    rowCount = layout.rowCount
    rows = .allocate(capacity: max(1, layout.rows.count))
    rows.initialize(from: layout.rows, count: layout.rows.count)
    edgeStarts = layout.edgeStarts
    edgeClasses = layout.edgeClasses
    edgeTargets = layout.edgeTargets
    fallbacks = layout.fallbacks
    reaches = layout.reaches
    longest = layout.longest
    firstTails = layout.firstTails
    tails = layout.tails
    ends = .allocate(capacity: longest.count)
    for state in longest.indices {
      (ends + state).initialize(to: firstTails[state] >= 0 ? .max : longest[state])
    }
  }

  deinit {
    classes.deallocate()
    rows.deallocate()
    ends.deallocate()
  }

  private static func distinct(_ words: [[UInt8]]) -> [[UInt8]] {
    var known: Set<[UInt8]> = []
    return words.filter { known.insert($0).inserted }
  }

  static func folded(_ byte: UInt8) -> UInt8 { byte == UInt8(ascii: "+") ? 32 : byte }

  @inline(__always)
  func entry(_ byte: UInt8) -> UInt16 { classes[Int(byte)] }

  @inline(__always)
  func isEnd(_ state: State) -> Bool { ends[Int(state)] != 0 }

  @inline(__always)
  func step(_ state: State, _ entry: UInt16) -> State {
    let column = Int(entry & ~Self.lead)
    if Int(state) < rowCount { return rows[Int(state) &* classCount &+ column] }
    return stepBeyondRows(state, column)
  }

  @inline(never)
  private func stepBeyondRows(_ start: State, _ column: Int) -> State {
    var state = start
    while Int(state) >= rowCount {
      for edge in edgeStarts[Int(state)]..<edgeStarts[Int(state) + 1]
      where Int(edgeClasses[Int(edge)]) == column { return edgeTargets[Int(edge)] }
      state = fallbacks[Int(state)]
    }
    return rows[Int(state) * classCount + column]
  }

  @inline(__always)
  func reach(_ state: State) -> Int { Int(reaches[Int(state)]) }

  func longestWord(_ state: State) -> Int { Int(longest[Int(state)]) }

  func forEachHead(_ state: State, _ body: (Int) -> Void) {
    var place = firstTails[Int(state)]
    while place >= 0 {
      body(tails[Int(place)].word)
      place = tails[Int(place)].next
    }
  }
}

struct Trie {
  struct Node {
    let byte: UInt8
    let depth: UInt8
    var firstChild: Int32 = -1
    var sibling: Int32 = -1
    var isWord = false
    var heads: [Int] = []
  }

  private(set) var nodes = [Node(byte: 0, depth: 0)]
  private(set) var usesByte = [Bool](repeating: false, count: 256)

  mutating func insertEnd(of word: some Collection<UInt8>) { nodes[insert(word)].isWord = true }

  mutating func insertHead(_ head: some Collection<UInt8>, of word: Int) {
    nodes[insert(head)].heads.append(word)
  }

  private mutating func insert(_ word: some Collection<UInt8>) -> Int {
    var node = 0
    for byte in word {
      usesByte[Int(byte)] = true
      var child = nodes[node].firstChild
      while child >= 0, nodes[Int(child)].byte != byte { child = nodes[Int(child)].sibling }
      if child < 0 {
        child = Int32(nodes.count)
        nodes.append(
          Node(byte: byte, depth: nodes[node].depth + 1, sibling: nodes[node].firstChild))
        nodes[node].firstChild = child
      }
      node = Int(child)
    }
    return node
  }
}

/// Numbers the nodes by depth and computes their fallbacks.
struct TrieLayout {
  private let trie: Trie
  let rowCount: Int
  private(set) var rows: [Int32] = []
  private(set) var edgeStarts: [Int32] = []
  private(set) var edgeClasses: [UInt16] = []
  private(set) var edgeTargets: [Int32] = []
  private(set) var fallbacks: [Int32] = [0]
  private(set) var reaches: [UInt8] = []
  private(set) var longest: [UInt8] = []
  private(set) var firstTails: [Int32] = []
  private(set) var tails: [(word: Int, next: Int32)] = []
  private var classCount = 0

  init(_ trie: Trie, mostRows: Int) {
    self.trie = trie
    rowCount = min(mostRows, trie.nodes.count)
    classCount = trie.usesByte.lazy.filter { $0 }.count + 1
  }

  mutating func lay(_ classOf: (UInt8) -> UInt16) {
    var order: [Int32] = [0]
    order.reserveCapacity(trie.nodes.count)
    var state = 0
    while state < order.count {
      let node = trie.nodes[Int(order[state])]
      let fallback = fallbacks[state]
      note(node, fallback: Int(fallback), isRoot: state == 0)
      if state < rowCount {
        let start = Int(fallback) * classCount
        rows +=
          state == 0
          ? [Int32](repeating: 0, count: classCount) : Array(rows[start..<start + classCount])
      }
      edgeStarts.append(Int32(edgeTargets.count))
      var child = node.firstChild
      while child >= 0 {
        let next = Int32(order.count)
        let column = classOf(trie.nodes[Int(child)].byte)
        fallbacks.append(state == 0 ? 0 : successor(of: fallback, Int(column)))
        edgeClasses.append(column)
        edgeTargets.append(next)
        order.append(child)
        if state < rowCount { rows[state * classCount + Int(column)] = next }
        child = trie.nodes[Int(child)].sibling
      }
      state += 1
    }
    edgeStarts.append(Int32(edgeTargets.count))
  }

  private mutating func note(_ node: Trie.Node, fallback: Int, isRoot: Bool) {
    reaches.append(node.firstChild >= 0 ? node.depth : isRoot ? 0 : reaches[fallback])
    longest.append(node.isWord ? node.depth : isRoot ? 0 : longest[fallback])
    var first = isRoot ? -1 : firstTails[fallback]
    for word in node.heads {
      tails.append((word, first))
      first = Int32(tails.count - 1)
    }
    firstTails.append(first)
  }

  private func successor(of start: Int32, _ column: Int) -> Int32 {
    var state = Int(start)
    while state >= rowCount {
      for edge in Int(edgeStarts[state])..<Int(edgeStarts[state + 1])
      where Int(edgeClasses[edge]) == column { return edgeTargets[edge] }
      state = Int(fallbacks[state])
    }
    return rows[state * classCount + column]
  }
}

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

  /// The length of the longest word that ends with the byte, or 0.
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

/// The byte strings (words) that reveal a secret.
///
/// Escapes are decoded before. Hexadecimal and base64 at its three alignments are separate words; a
/// base64 word has only the digits that the value determines, so up to four bits at its ends stay
/// visible.
package enum SecretWords {
  /// Encodings of shorter values would match everywhere.
  static let shortestEncodedBytes = 8

  /// Limits encoded lines of all values. Each costs a worker up to 5 KB, and a bundle of
  /// certificates has a thousand.
  static let mostEncodedLines = 4096

  static func words(of values: [[UInt8]]) -> [[UInt8]] {
    var words: [[UInt8]] = []
    var room = mostEncodedLines
    for value in values { add(value, &room, to: &words) }
    return words
  }

  /// Shells (`echo $KEY`, `read`) and other programs strip spaces around a value.
  private static func add(_ value: [UInt8], _ room: inout Int, to words: inout [[UInt8]]) {
    // `$(…)` strips newlines.
    let ends = value.reversed().prefix { $0 == 10 || $0 == 13 }.count
    let core = value.count - ends >= SecretValue.shortestBytes ? Array(value.dropLast(ends)) : value
    let inner = Array(core[...].trimmed)
    for word in inner == core ? [core] : [core, inner]
    where word.count >= SecretValue.shortestBytes {
      add(word, leastBytes: SecretValue.shortestBytes, to: &words)
      if word.count >= shortestEncodedBytes { words += encodings(of: word) }
    }
    guard core.contains(10) else { return }
    for line in core.split(separator: 10).map(\.trimmed) where line.count >= shortestEncodedBytes {
      add(Array(line), leastBytes: shortestEncodedBytes, to: &words)
      if room == 0 { continue }
      room -= 1
      words += encodings(of: Array(line))
    }
  }

  /// Adds the word, its form from `echo $KEY`, with each run of spaces as one, and its forms in
  /// names, where a byte that is not UTF-8 is replaced.
  private static func add(_ word: [UInt8], leastBytes: Int, to words: inout [[UInt8]]) {
    words.append(word)
    if String(validating: word, as: UTF8.self) == nil {
      words.append(Array(String(decoding: word, as: UTF8.self).utf8))
      words.append(Array(NameCharacters.text(word).utf8))
    }
    let parts = word.split { $0 == 32 || $0 == 9 || $0 == 10 }
    let single = Array(parts.joined(separator: CollectionOfOne(32)))
    if single != word, single.count >= leastBytes { words.append(single) }
  }

  private static func encodings(of value: [UInt8]) -> [[UInt8]] {
    var words = ["0123456789abcdef", "0123456789ABCDEF"].map { digits in
      let digits = Array(digits.utf8)
      return value.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }
    for (place, marks) in ["+/", "-_"].enumerated() {
      let alphabet = Array(Self.letters.utf8) + Array(marks.utf8)
      for before in 0..<3 {
        let digits = base64([UInt8](repeating: 0, count: before) + value, alphabet)
        let first = (before * 8 + 5) / 6
        let last = (before + value.count) * 8 / 6
        let own = Array(digits[first..<last])
        // Else both alphabets give the same word.
        if place == 1, !own.contains(where: { marks.utf8.contains($0) }) { continue }
        words.append(own)
      }
      let whole = base64(value, alphabet)
      words.append(whole)
      if whole.count % 4 != 0 {
        words.append(whole + [UInt8](repeating: UInt8(ascii: "="), count: 4 - whole.count % 4))
      }
    }
    return words
  }

  private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

  /// Without trailing `=`.
  static func base64(_ bytes: [UInt8], _ alphabet: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count * 4 / 3 + 2)
    var bits: UInt32 = 0
    var count: UInt32 = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 6 {
        count -= 6
        result.append(alphabet[Int(bits >> count & 63)])
      }
    }
    if count > 0 { result.append(alphabet[Int(bits << (6 - count) & 63)]) }
    return result
  }
}

extension ArraySlice<UInt8> {
  fileprivate var trimmed: ArraySlice<UInt8> {
    func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 10 || byte == 13 }
    guard let last = lastIndex(where: { !isBlank($0) }) else { return [] }
    return self[..<(last + 1)].drop(while: isBlank)
  }
}
