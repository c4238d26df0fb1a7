internal import OpflowBase

/// Numbers texts in insertion order; does not own them.
struct TextTable {
  private(set) var texts: [ByteView] = []
  /// Open addressing, at most half full. A slot has a text's number plus one in the bits of `mask`
  /// and bits of its hash above; 0 is free.
  private var slots: [UInt32] = []
  /// Saves reading the texts again in `grow`.
  private var hashes: [UInt32] = []

  var count: Int { texts.count }

  func index(of text: ByteView) -> Int? {
    if slots.isEmpty { return nil }
    let found = slots[slot(of: text, Self.hash(text))]
    return found == 0 ? nil : (Int(found) & mask) - 1
  }

  mutating func insert(_ text: ByteView) -> (index: Int, isNew: Bool) {
    if (count + 1) * 2 > slots.count { grow() }
    let hash = Self.hash(text)
    let slot = slot(of: text, hash)
    if slots[slot] != 0 { return ((Int(slots[slot]) & mask) - 1, false) }
    fill(slot, hash, with: count)
    texts.append(text)
    hashes.append(hash)
    return (count - 1, true)
  }

  /// Returns the number of an equal text.
  mutating func add(_ text: ByteView) -> Int? {
    let (index, isNew) = insert(text)
    return isNew ? nil : index
  }

  mutating func insert(_ text: ByteView, keptIn store: TextStore) -> Int {
    index(of: text) ?? insert(store.copy(text)).index
  }

  /// Keeps a small table's memory.
  mutating func removeAll() {
    if texts.isEmpty { return }
    if slots.count > 64 { return self = TextTable() }
    texts.removeEach()
    hashes.removeEach()
    for slot in slots.indices { slots[slot] = 0 }
  }

  private static func hash(_ text: ByteView) -> UInt32 {
    UInt32(truncatingIfNeeded: Hash.xxh3(text))
  }

  private func slot(of text: ByteView, _ hash: UInt32) -> Int {
    let mark = hash & ~UInt32(truncatingIfNeeded: mask)
    var slot = Int(hash) & mask
    while slots[slot] != 0 {
      let found = slots[slot]
      if found & ~UInt32(truncatingIfNeeded: mask) == mark,
        texts[(Int(found) & mask) - 1].isSame(as: text)
      {
        break
      }
      slot = (slot + 1) & mask
    }
    return slot
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

  private var mask: Int { slots.count - 1 }
}

/// Values by text, in insertion order.
struct TextMap<Value> {
  private(set) var keys = TextTable()
  private(set) var values: [Value] = []

  subscript(key: ByteView) -> Value? { keys.index(of: key).map { values[$0] } }

  @discardableResult
  mutating func set(_ key: ByteView, _ value: Value) -> Value? {
    let (index, isNew) = keys.insert(key)
    if isNew {
      values.append(value)
      return nil
    }
    defer { values[index] = value }
    return values[index]
  }
}
