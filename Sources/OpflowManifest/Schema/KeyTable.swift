/// The keys that a map of the manifest may have, numbered from zero.
protocol SchemaKey: RawRepresentable<Int>, CaseIterable, Sendable {
  /// As it is written.
  var name: StaticString { get }
  /// What it takes and means. Made when it is asked for: a manifest is read without it.
  var row: KeyRow { get }
}

/// Finds a key by its text.
///
/// The table behind it is of no type of its own for each kind of key, since types that are made at run
/// time take longer to make than to fill.
struct KeyTable<Key: SchemaKey> {
  private let words: WordTable

  /// Of all keys.
  init() {
    var names: [(name: StaticString, number: Int)] = []
    while let key = Key(rawValue: names.count) { names.append((key.name, key.rawValue)) }
    words = WordTable(names)
  }

  /// Of a map that may have these only.
  init(_ keys: [Key]) {
    words = WordTable(keys.map { ($0.name, $0.rawValue) })
  }

  func key(_ text: Text) -> Key? { words.number(of: text).flatMap { Key(rawValue: $0) } }

  var names: [Text] { words.texts }
}

/// The numbers of up to sixty-three names of at most sixteen bytes.
private final class WordTable {
  /// A name of at most sixteen bytes, comparable at once.
  private struct Word: Equatable {
    var low: UInt64 = 0
    var high: UInt64 = 0

    /// Loads overlap, and put the same byte at the same place.
    init(_ text: Text) {
      let count = text.count
      if count >= 8 {
        low = text.loadUnaligned(as: UInt64.self)
        guard count > 8 else { return }
        let last = text.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        high = last >> UInt64((16 - count) * 8)
      } else if count >= 4 {
        let last = text.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
        low =
          UInt64(text.loadUnaligned(as: UInt32.self)) | UInt64(last) << UInt64((count - 4) * 8)
      } else {
        for index in 0..<count { low |= UInt64(text[index]) << UInt64(index * 8) }
      }
    }
  }

  // Constants, since each look at a variable of a class is checked at run time.
  private let words: [Word]
  let texts: [Text]
  let numbers: [Int]
  /// By hash, with room to spare: a name's place in the lists, or -1 for none.
  private let slots: InlineArray<64, Int8>

  init(_ names: [(name: StaticString, number: Int)]) {
    // SAFETY: a literal's bytes live as long as the program.
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
