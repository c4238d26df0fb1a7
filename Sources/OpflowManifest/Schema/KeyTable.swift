/// The keys of a map, numbered from 0.
protocol SchemaKey: RawRepresentable<Int>, CaseIterable, Sendable {
  var name: StaticString { get }
  /// Computed on demand, since reading a manifest does not need it.
  var row: KeyRow { get }
}

/// Finds a key by its text. The table inside is not generic, because instantiating a generic type
/// takes longer than filling it.
struct KeyTable<Key: SchemaKey> {
  private let words: WordTable

  init() {
    var names: [(name: StaticString, number: Int)] = []
    while let key = Key(rawValue: names.count) { names.append((key.name, key.rawValue)) }
    words = WordTable(names)
  }

  init(_ keys: [Key]) {
    words = WordTable(keys.map { ($0.name, $0.rawValue) })
  }

  func key(_ text: Text) -> Key? { words.number(of: text).flatMap { Key(rawValue: $0) } }

  var names: [Text] { words.texts }
}

/// A table of up to 63 names of at most 16 bytes.
private final class WordTable {
  /// A name as two integers.
  private struct Word: Equatable {
    var low: UInt64 = 0
    var high: UInt64 = 0

    /// Two loads may overlap; both then have the same byte at the same position.
    init(_ text: Text) {
      let count = text.count
      if count >= 8 {
        low = text.loadUnaligned(as: UInt64.self)
        guard count > 8 else { return }
        let last = text.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        high = last >> UInt64((16 - count) * 8)
      } else if count >= 4 {
        let last = text.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
        low = UInt64(text.loadUnaligned(as: UInt32.self)) | UInt64(last) << UInt64((count - 4) * 8)
      } else {
        for index in 0..<count { low |= UInt64(text[index]) << UInt64(index * 8) }
      }
    }
  }

  // Constants, since access to variables of a class is checked at run time.
  private let words: [Word]
  let texts: [Text]
  let numbers: [Int]
  /// Indices by hash; -1 marks a free slot.
  private let slots: InlineArray<64, Int8>

  init(_ names: [(name: StaticString, number: Int)]) {
    // SAFETY: a literal's bytes are never freed.
    let texts = names.map { Text(start: $0.name.utf8Start, count: $0.name.utf8CodeUnitCount) }
    let words = texts.map { Word($0) }
    var slots = InlineArray<64, Int8>(repeating: -1)
    for (place, word) in words.enumerated() {
      var slot = Self.slot(word)
      while slots[slot] >= 0 { slot = (slot + 1) & 63 }
      slots[slot] = Int8(place)
    }
    self.texts = texts
    self.words = words
    self.slots = slots
    numbers = names.map(\.number)
  }

  func number(of text: Text) -> Int? {
    guard text.count <= 16 else { return nil }
    let word = Word(text)
    var slot = Self.slot(word)
    while slots[slot] >= 0 {
      if words[Int(slots[slot])] == word { return numbers[Int(slots[slot])] }
      slot = (slot + 1) & 63
    }
    return nil
  }

  private static func slot(_ word: Word) -> Int {
    Int(((word.low ^ word.high) &* 0x9E37_79B9_7F4A_7C15) >> 58)
  }
}

/// The known keys of one map.
struct Fields<Key: SchemaKey> {
  private var keys = InlineArray<64, Int32>(repeating: -1)
  /// One bit per key. It is tested first, because indexing `keys` with a variable copies the array.
  private var present: UInt64 = 0
  private var meant: UInt64 = 0

  @inline(__always)
  func has(_ key: Key) -> Bool { present & Self.bit(key) != 0 }

  @inline(__always)
  func key(_ key: Key) -> Node? { has(key) ? Node(keys[key.rawValue]) : nil }

  /// A key is one record, so its value is the next.
  @inline(__always)
  subscript(key: Key) -> Node? { has(key) ? Node(keys[key.rawValue] + 1) : nil }

  mutating func set(_ key: Key, to node: Node) {
    keys[key.rawValue] = node.record
    present |= Self.bit(key)
  }

  /// Whether an unknown key was reported as probably this one.
  func isMeant(_ key: Key) -> Bool { meant & Self.bit(key) != 0 }

  mutating func noteMeant(_ key: Key) { meant |= Self.bit(key) }

  private static func bit(_ key: Key) -> UInt64 { 1 << UInt64(key.rawValue) }
}
