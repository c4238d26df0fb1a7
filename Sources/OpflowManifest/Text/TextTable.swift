internal import OpflowCore

/// A set of texts, numbered in insertion order.
struct TextTable {
  private(set) var texts: [Text] = []
  private var slots = TextSlots()

  var count: Int { texts.count }

  func index(of text: Text) -> Int? {
    slots.find(text) { texts[$0].isSame(as: text) }
  }

  mutating func insert(_ text: Text) -> (index: Int, isNew: Bool) {
    let place = slots.findPlace(of: text) { texts[$0].isSame(as: text) }
    if let known = place.number { return (known, false) }
    slots.add(place)
    texts.append(text)
    return (count - 1, true)
  }

  /// Inserts a text. If it is new, `store` keeps a copy.
  mutating func insert(_ text: Text, keptIn store: TextStore) -> Int {
    index(of: text) ?? insert(store.copy(text)).index
  }
}

/// A hash index over texts that the caller keeps, numbered from 0.
struct TextSlots {
  /// Open addressing, at most half full. A slot holds a text's number plus one in the bits of
  /// `mask` and bits of its hash above; 0 is free.
  private var slots: [UInt32] = []
  /// Kept so that growing does not read the texts again.
  private var hashes: [UInt32] = []

  /// The slot of a text, or the free slot where it belongs.
  struct Place {
    let number: Int?
    fileprivate let slot: Int
    fileprivate let hash: UInt32
  }

  /// - Parameter isSame: Whether the text of a given number equals `text`.
  @inline(__always)
  func find(_ text: Text, isSame: (Int) -> Bool) -> Int? {
    slots.isEmpty ? nil : place(of: text, isSame: isSame).number
  }

  /// Finds a text and makes room for a new one. The caller then calls `add`.
  @inline(__always)
  mutating func findPlace(of text: Text, isSame: (Int) -> Bool) -> Place {
    if (hashes.count + 1) * 2 > slots.count { grow() }
    return place(of: text, isSame: isSame)
  }

  /// Gives the next number to a new text.
  mutating func add(_ place: Place) {
    fill(place.slot, place.hash, with: hashes.count)
    hashes.append(place.hash)
  }

  @inline(__always)
  private func place(of text: Text, isSame: (Int) -> Bool) -> Place {
    let hash = UInt32(truncatingIfNeeded: Hash.xxh3(text))
    let mark = hash & ~UInt32(truncatingIfNeeded: mask)
    var slot = Int(hash) & mask
    while slots[slot] != 0 {
      let found = slots[slot]
      let number = (Int(found) & mask) - 1
      if found & ~UInt32(truncatingIfNeeded: mask) == mark, isSame(number) {
        return Place(number: number, slot: slot, hash: hash)
      }
      slot = (slot + 1) & mask
    }
    return Place(number: nil, slot: slot, hash: hash)
  }

  private mutating func grow() {
    slots = [UInt32](repeating: 0, count: max(16, slots.count * 4))
    for number in hashes.indices {
      var slot = Int(hashes[number]) & mask
      while slots[slot] != 0 { slot = (slot + 1) & mask }
      fill(slot, hashes[number], with: number)
    }
  }

  private mutating func fill(_ slot: Int, _ hash: UInt32, with number: Int) {
    slots[slot] = hash & ~UInt32(truncatingIfNeeded: mask) | UInt32(truncatingIfNeeded: number + 1)
  }

  /// The bits of a slot that hold the number.
  private var mask: Int { slots.count - 1 }
}

/// Names numbered from 0. The names must outlive the index.
struct NameIndex {
  /// The names while there are few, which linear search finds faster.
  private var first: [Text] = []
  /// All names, once there are more than `listedCount`.
  private var names = PackedTexts()
  private var slots = TextSlots()

  private static let listedCount = 8

  func index(of name: Text) -> Int? {
    if names.count > 0 { return slots.find(name) { names.isSame($0, as: name) } }
    for number in 0..<first.count where first[number].isSame(as: name) { return number }
    return nil
  }

  /// Adds a name. Returns its number if it is already known.
  mutating func insert(_ name: Text) -> Int? {
    if names.count > 0 { return insertMany(name) }
    if let known = index(of: name) { return known }
    if first.count < Self.listedCount {
      first.append(name)
      return nil
    }
    for name in first { _ = insertMany(name) }
    return insertMany(name)
  }

  private mutating func insertMany(_ name: Text) -> Int? {
    let place = slots.findPlace(of: name) { names.isSame($0, as: name) }
    if let known = place.number { return known }
    slots.add(place)
    names.append(name)
    return nil
  }

  /// Removes all names; `first` keeps its memory.
  mutating func removeAll() {
    first.removeEach()
    guard names.count > 0 else { return }
    names = PackedTexts()
    slots = TextSlots()
  }
}

/// Copies of texts in one small buffer, which stays in the processor's caches.
struct PackedTexts {
  private var bytes: [UInt8] = []
  /// The end of each text; the first starts at 0.
  private var ends: [UInt32] = []

  var count: Int { ends.count }

  mutating func append(_ text: Text) {
    bytes.append(contentsOf: text)
    ends.append(UInt32(truncatingIfNeeded: bytes.count))
  }

  func isSame(_ number: Int, as text: Text) -> Bool {
    let start = number == 0 ? 0 : Int(ends[number - 1])
    return bytes.withUnsafeBytes { $0.part(start..<Int(ends[number])).isSame(as: text) }
  }
}
