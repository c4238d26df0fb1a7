/// Names by content, each with its number in the order of adding, from 0.
struct NameIndex {
  private var names = PackedTexts()
  /// Once there are more than a few.
  private var slots = TextSlots()

  /// As many names are found faster by comparing them one by one.
  private static let listedCount = 8

  func index(of name: Text) -> Int? {
    if names.count > Self.listedCount {
      return slots.find(name) { names.isSame($0, as: name) }.number
    }
    for number in 0..<names.count where names.isSame(number, as: name) { return number }
    return nil
  }

  /// Gives a name the next number; the number that it has, where there is one.
  mutating func insert(_ name: Text) -> Int? {
    let count = names.count
    if count < Self.listedCount {
      if let known = index(of: name) { return known }
    } else {
      if slots.isFull(count) { slots = TextSlots(count: count) { names.hash($0) } }
      let place = slots.find(name) { names.isSame($0, as: name) }
      if let known = place.number { return known }
      slots.fill(place, with: count)
    }
    names.append(name)
    return nil
  }

  /// Forgets all, and keeps its memory for as many names as most maps have.
  mutating func removeAll() {
    names.removeAll()
    slots = TextSlots()
  }
}
