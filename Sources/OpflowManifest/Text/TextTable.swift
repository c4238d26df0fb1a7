internal import OpflowCore

/// Texts by content, each with its number in the order of adding.
struct TextTable {
  private(set) var texts: [Text] = []
  private var slots = TextSlots()

  var count: Int { texts.count }

  func index(of text: Text) -> Int? {
    count == 0 ? nil : slots.find(text) { texts[$0].isSame(as: text) }.number
  }

  /// The number of `text`, and whether it is a new one.
  mutating func insert(_ text: Text) -> (index: Int, isNew: Bool) {
    if slots.isFull(count) { slots = TextSlots(count: count) { Hash.xxh3(texts[$0]) } }
    let place = slots.find(text) { texts[$0].isSame(as: text) }
    if let known = place.number { return (known, false) }
    slots.fill(place, with: count)
    texts.append(text)
    return (count - 1, true)
  }

  /// The number of `text`, of which a copy is kept where it is a new one.
  mutating func insert(_ text: Text, keptIn store: TextStore) -> Int {
    index(of: text) ?? insert(store.copy(text)).index
  }
}
