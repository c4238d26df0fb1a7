/// The entries of a map whose names are the user's own: the node of each key. A key is one record,
/// so its value is the node after it.
struct Entries {
  let document: YAMLDocument
  private(set) var keys: [Node] = []
  /// Keys by name, once there are more than a few.
  private var slots = TextSlots()
  private var packedNames = PackedTexts()

  /// As many names are found faster by comparing them one by one.
  private static let listedCount = 8

  init(document: YAMLDocument) { self.document = document }

  var count: Int { keys.count }

  func name(_ index: Int) -> Text { document.text(keys[index]) }
  func value(_ index: Int) -> Node { Node(keys[index].record + 1) }

  /// All names, in order.
  var names: some Sequence<Text> {
    let document = document
    return keys.lazy.map { document.text($0) }
  }

  func index(of name: Text) -> Int? {
    if count > Self.listedCount {
      return slots.find(name) { packedNames.isSame($0, as: name) }.number
    }
    return keys.firstIndex { document.text($0).isSame(as: name) }
  }

  /// Forgets all, and keeps its memory.
  mutating func removeAll() {
    keys.removeAll(keepingCapacity: true)
    slots = TextSlots()
    packedNames = PackedTexts()
  }

  /// Adds a key; the number of the one that has its name, where there is one.
  mutating func insert(_ key: Node, _ name: Text) -> Int? {
    if count < Self.listedCount {
      if let known = index(of: name) { return known }
    } else {
      if packedNames.isEmpty {
        for index in 0..<count { packedNames.append(self.name(index)) }
      }
      if slots.isFull(count) { slots = TextSlots(count: count) { packedNames.hash($0) } }
      let place = slots.find(name) { packedNames.isSame($0, as: name) }
      if let known = place.number { return known }
      slots.fill(place, with: count)
      packedNames.append(name)
    }
    keys.append(key)
    return nil
  }
}
