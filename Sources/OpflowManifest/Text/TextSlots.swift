internal import OpflowCore

/// Finds the numbers of texts, which somebody else keeps: in the order of adding, from 0.
struct TextSlots {
  /// A text's number plus one, and above what the largest of them takes, bits of its hash; 0 is free.
  /// At most half full.
  private var slots: [UInt32] = []

  /// Where a text is, or belongs.
  struct Place {
    /// Nil where there is no such text.
    let number: Int?
    fileprivate let slot: Int
    fileprivate let mark: UInt32
  }

  /// For no text yet.
  init() {}

  /// With so many texts, and room for more of them.
  init(count: Int, hash: (Int) -> UInt64) {
    var size = 16
    while size < (count + 1) * 4 { size *= 2 }
    slots = [UInt32](repeating: 0, count: size)
    for number in 0..<count {
      let hash = hash(number)
      var slot = Int(truncatingIfNeeded: hash) & mask
      while slots[slot] != 0 { slot = (slot + 1) & mask }
      fill(Place(number: nil, slot: slot, mark: mark(hash)), with: number)
    }
  }

  /// Whether one more than `count` texts would be too many.
  func isFull(_ count: Int) -> Bool { (count + 1) * 2 > slots.count }

  /// Looks among the texts, of which there must be one, or room for one.
  ///
  /// - Parameter isSame: whether the text of that number is the same.
  @inline(__always)
  func find(_ text: Text, isSame: (Int) -> Bool) -> Place {
    let hash = Hash.xxh3(text)
    let mark = mark(hash)
    var slot = Int(truncatingIfNeeded: hash) & mask
    while slots[slot] != 0 {
      let found = slots[slot]
      let number = (Int(found) & mask) - 1
      if found & ~UInt32(truncatingIfNeeded: mask) == mark, isSame(number) {
        return Place(number: number, slot: slot, mark: mark)
      }
      slot = (slot + 1) & mask
    }
    return Place(number: nil, slot: slot, mark: mark)
  }

  /// Lets a text that was not found have the next number.
  mutating func fill(_ place: Place, with number: Int) {
    slots[place.slot] = place.mark | UInt32(truncatingIfNeeded: number + 1)
  }

  /// All bits that a number may have.
  private var mask: Int { slots.count - 1 }

  private func mark(_ hash: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: hash >> 32) & ~UInt32(truncatingIfNeeded: mask)
  }
}
