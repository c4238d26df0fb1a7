internal import OpflowCore

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
