/// Map entries with unique names.
protocol EntryList {
  var count: Int { get }
  func key(_ index: Int) -> Node
  /// Adds a key. Returns the number of the key that already has the name, if any.
  mutating func insert(_ key: Node, _ name: Text) -> Int?
}

/// The entries of a map with user-defined names.
struct Entries: EntryList {
  let document: YAMLDocument
  private(set) var keys: [Node] = []
  private var names = NameIndex()

  init(document: YAMLDocument) { self.document = document }

  var count: Int { keys.count }

  func key(_ index: Int) -> Node { keys[index] }
  func name(_ index: Int) -> Text { document.text(keys[index]) }
  func value(_ index: Int) -> Node { keys[index].value }

  /// Removes all entries and keeps the memory.
  mutating func removeAll() {
    keys.removeEach()
    names.removeAll()
  }

  mutating func insert(_ key: Node, _ name: Text) -> Int? {
    if let known = names.insert(name) { return known }
    keys.append(key)
    return nil
  }
}
