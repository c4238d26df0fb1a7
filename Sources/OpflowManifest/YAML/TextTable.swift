internal import OpflowCore

/// Texts by content, each with its number in the order of adding.
struct TextTable {
  private(set) var texts: [Text] = []
  private var slots = [Int32](repeating: -1, count: 16)

  var count: Int { texts.count }

  init(minimumCapacity: Int = 0) {
    texts.reserveCapacity(minimumCapacity)
    var size = 16
    while size < minimumCapacity * 2 { size *= 2 }
    slots = [Int32](repeating: -1, count: size)
  }

  func index(of text: Text) -> Int? {
    let index = slots[slot(of: text)]
    return index < 0 ? nil : Int(index)
  }

  /// The number of `text`, and whether it is a new one.
  mutating func insert(_ text: Text) -> (index: Int, isNew: Bool) {
    if (texts.count + 1) * 2 > slots.count { grow() }
    let slot = slot(of: text)
    if slots[slot] >= 0 { return (Int(slots[slot]), false) }
    slots[slot] = Int32(truncatingIfNeeded: texts.count)
    texts.append(text)
    return (texts.count - 1, true)
  }

  private func slot(of text: Text) -> Int {
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: Hash.xxh3(text)) & mask
    while slots[slot] >= 0, !texts[Int(slots[slot])].isSame(as: text) {
      slot = (slot + 1) & mask
    }
    return slot
  }

  private mutating func grow() {
    slots = [Int32](repeating: -1, count: slots.count * 2)
    let mask = slots.count - 1
    for (index, text) in texts.enumerated() {
      var slot = Int(truncatingIfNeeded: Hash.xxh3(text)) & mask
      while slots[slot] >= 0 { slot = (slot + 1) & mask }
      slots[slot] = Int32(truncatingIfNeeded: index)
    }
  }
}
