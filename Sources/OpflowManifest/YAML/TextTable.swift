internal import OpflowCore

/// Texts by content, each with its number in the order of adding.
struct TextTable {
  private(set) var texts: [Text] = []
  /// A text's number plus one, and above it 32 bits of its hash; 0 is free. At most half full.
  private var slots = [UInt64](repeating: 0, count: 16)

  var count: Int { texts.count }

  func index(of text: Text) -> Int? {
    let found = slots[slot(of: text, hash: Hash.xxh3(text))]
    return found == 0 ? nil : Self.index(found)
  }

  /// The number of `text`, and whether it is a new one.
  mutating func insert(_ text: Text) -> (index: Int, isNew: Bool) {
    if (texts.count + 1) * 2 > slots.count { grow() }
    let hash = Hash.xxh3(text)
    let slot = slot(of: text, hash: hash)
    if slots[slot] != 0 { return (Self.index(slots[slot]), false) }
    slots[slot] = hash << 32 | UInt64(texts.count + 1)
    texts.append(text)
    return (texts.count - 1, true)
  }

  private static func index(_ slot: UInt64) -> Int { Int(slot & 0xFFFF_FFFF) - 1 }

  private func slot(of text: Text, hash: UInt64) -> Int {
    let mask = slots.count - 1
    let mark = hash << 32
    var slot = Int(truncatingIfNeeded: hash) & mask
    while slots[slot] != 0 {
      let found = slots[slot]
      if found & ~0xFFFF_FFFF == mark, texts[Self.index(found)].isSame(as: text) { break }
      slot = (slot + 1) & mask
    }
    return slot
  }

  private mutating func grow() {
    let old = slots
    slots = [UInt64](repeating: 0, count: old.count * 4)
    let mask = slots.count - 1
    for mark in old where mark != 0 {
      var slot = Int(mark >> 32) & mask
      while slots[slot] != 0 { slot = (slot + 1) & mask }
      slots[slot] = mark
    }
  }
}
