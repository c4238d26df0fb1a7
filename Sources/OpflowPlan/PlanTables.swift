internal import OpflowBase

/// Deduplicates strings: open addressing over references into the builder's arena.
struct InternTable {
  private var slots = [TextRef](repeating: .empty, count: 64)
  private var used = 0

  mutating func intern(_ bytes: UnsafeRawBufferPointer, arena: inout PlanArena) -> TextRef {
    if (used + 1) * 2 > slots.count { grow(arena: arena) }
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: Hash.xxh3(bytes)) & mask
    while slots[slot].length > 0 {
      if Int(slots[slot].length) == bytes.count,
        arena.withText(slots[slot], { Hash.areEqual($0, bytes) })
      {
        return slots[slot]
      }
      slot = (slot + 1) & mask
    }
    let ref = arena.append(bytes)
    slots[slot] = ref
    used += 1
    return ref
  }

  private mutating func grow(arena: PlanArena) {
    let old = slots
    slots = [TextRef](repeating: .empty, count: old.count * 2)
    let mask = slots.count - 1
    for ref in old where ref.length > 0 {
      var slot = Int(truncatingIfNeeded: arena.withText(ref) { Hash.xxh3($0) }) & mask
      while slots[slot].length > 0 { slot = (slot + 1) & mask }
      slots[slot] = ref
    }
  }
}

/// Equal lists get the same index. List 0 is empty.
struct ListTable<Item: BitwiseCopyable> {
  private(set) var offsets: [UInt32] = [0, 0]
  private(set) var items: [Item] = []
  /// By hash of the lists' bytes, at most half full; 0 is a free slot.
  private var slots = [UInt32](repeating: 0, count: 64)

  var byteCount: Int { items.count * MemoryLayout<Item>.stride }

  mutating func index(of list: [Item]) -> UInt32 {
    if list.isEmpty { return 0 }
    if offsets.count * 2 > slots.count { grow() }
    let slot = slot(of: list)
    if slots[slot] > 0 { return slots[slot] }
    let index = UInt32(truncatingIfNeeded: offsets.count - 1)
    items.append(contentsOf: list)
    offsets.append(UInt32(truncatingIfNeeded: items.count))
    slots[slot] = index
    return index
  }

  /// Without deduplication.
  mutating func add(_ item: Item) -> UInt32 {
    items.append(item)
    offsets.append(UInt32(truncatingIfNeeded: items.count))
    return UInt32(truncatingIfNeeded: offsets.count - 2)
  }

  /// The list's slot, or the free one for it. Items have no padding, so equal lists have equal
  /// bytes.
  private func slot(of list: [Item]) -> Int {
    list.withUnsafeBytes { bytes in
      items.withUnsafeBytes { items in
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: Hash.xxh3(bytes)) & mask
        while slots[slot] > 0, !Hash.areEqual(self.bytes(of: slots[slot], in: items), bytes) {
          slot = (slot + 1) & mask
        }
        return slot
      }
    }
  }

  private func bytes(
    of index: UInt32, in items: UnsafeRawBufferPointer
  ) -> UnsafeRawBufferPointer {
    let stride = MemoryLayout<Item>.stride
    let range = (Int(offsets[Int(index)]) * stride)..<(Int(offsets[Int(index) + 1]) * stride)
    return UnsafeRawBufferPointer(rebasing: items[range])
  }

  /// Includes lists that were added without a slot.
  private mutating func grow() {
    var count = slots.count
    while offsets.count * 2 > count { count *= 2 }
    slots = [UInt32](repeating: 0, count: count)
    let mask = slots.count - 1
    items.withUnsafeBytes { items in
      for index in 1..<UInt32(truncatingIfNeeded: offsets.count - 1) {
        var slot = Int(truncatingIfNeeded: Hash.xxh3(bytes(of: index, in: items))) & mask
        while slots[slot] > 0 { slot = (slot + 1) & mask }
        slots[slot] = index
      }
    }
  }
}
