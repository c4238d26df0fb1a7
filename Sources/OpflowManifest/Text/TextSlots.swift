internal import OpflowCore

/// Finds the numbers of texts, which somebody else keeps: in the order of adding, from 0.
struct TextSlots {
  /// A text's number plus one, and above what the largest of them takes, bits of its hash; 0 is free.
  /// At most half full.
  private var slots: [UInt32] = []
  /// Of all texts, so that none is read again where there have to be more slots.
  private var hashes: [UInt32] = []

  /// Where a text is, or belongs.
  struct Place {
    /// Nil where there is no such text.
    let number: Int?
    fileprivate let slot: Int
    fileprivate let hash: UInt32
  }

  /// Looks among the texts.
  ///
  /// - Parameter isSame: whether the text of that number is the same.
  @inline(__always)
  func find(_ text: Text, isSame: (Int) -> Bool) -> Int? {
    slots.isEmpty ? nil : place(of: text, isSame: isSame).number
  }

  /// The same, with room for the text where it is a new one: then `add` is to follow.
  @inline(__always)
  mutating func findPlace(of text: Text, isSame: (Int) -> Bool) -> Place {
    if (hashes.count + 1) * 2 > slots.count { grow() }
    return place(of: text, isSame: isSame)
  }

  /// Gives a text that was not found the next number.
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

  /// All bits that a number may have.
  private var mask: Int { slots.count - 1 }
}
