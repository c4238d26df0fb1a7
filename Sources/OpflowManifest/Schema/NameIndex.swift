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
