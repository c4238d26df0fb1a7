internal import OpflowCore

/// Texts by content, each with its number in the order of adding.
struct TextTable {
  private(set) var texts: [Text] = []
  private var slots = TextSlots()

  var count: Int { texts.count }

  func index(of text: Text) -> Int? {
    slots.find(text) { texts[$0].isSame(as: text) }
  }

  /// The number of `text`, and whether it is a new one.
  mutating func insert(_ text: Text) -> (index: Int, isNew: Bool) {
    let place = slots.findPlace(of: text) { texts[$0].isSame(as: text) }
    if let known = place.number { return (known, false) }
    slots.add(place)
    texts.append(text)
    return (count - 1, true)
  }

  /// The number of `text`, of which a copy is kept where it is a new one.
  mutating func insert(_ text: Text, keptIn store: TextStore) -> Int {
    index(of: text) ?? insert(store.copy(text)).index
  }
}
