internal import OpflowCore

/// A set of texts, numbered in insertion order.
struct TextTable {
  private(set) var texts: [Text] = []
  private var slots = TextSlots()

  var count: Int { texts.count }

  func index(of text: Text) -> Int? {
    slots.find(text) { texts[$0].isSame(as: text) }
  }

  mutating func insert(_ text: Text) -> (index: Int, isNew: Bool) {
    let place = slots.findPlace(of: text) { texts[$0].isSame(as: text) }
    if let known = place.number { return (known, false) }
    slots.add(place)
    texts.append(text)
    return (count - 1, true)
  }

  /// Inserts a text. If it is new, `store` keeps a copy.
  mutating func insert(_ text: Text, keptIn store: TextStore) -> Int {
    index(of: text) ?? insert(store.copy(text)).index
  }
}
