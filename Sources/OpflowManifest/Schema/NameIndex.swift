/// Names by content, each with its number in the order of adding, from 0. The names must live as long as
/// this.
struct NameIndex {
  /// The first ones: so few are found faster by comparing them one by one.
  private var first: [Text] = []
  /// All, once there are more.
  private var names = PackedTexts()
  private var slots = TextSlots()

  private static let listedCount = 8

  func index(of name: Text) -> Int? {
    if names.count > 0 { return slots.find(name) { names.isSame($0, as: name) } }
    for number in 0..<first.count where first[number].isSame(as: name) { return number }
    return nil
  }

  /// Gives a name the next number; the number that it has, where there is one.
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

  /// Forgets all, and keeps its memory for as many names as most maps have.
  mutating func removeAll() {
    first.removeEach()
    guard names.count > 0 else { return }
    names = PackedTexts()
    slots = TextSlots()
  }
}
