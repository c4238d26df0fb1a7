/// What the entries of maps are collected in, each name once.
protocol EntryList {
  var count: Int { get }
  func key(_ index: Int) -> Node
  /// Adds a key; the number of the one that has its name, where there is one.
  mutating func insert(_ key: Node, _ name: Text) -> Int?
}

/// The entries of a map whose names are the user's own: the node of each key. A key is one record,
/// so its value is the node after it.
struct Entries: EntryList {
  let document: YAMLDocument
  private(set) var keys: [Node] = []
  private var names = NameIndex()

  init(document: YAMLDocument) { self.document = document }

  var count: Int { keys.count }

  func key(_ index: Int) -> Node { keys[index] }
  func name(_ index: Int) -> Text { document.text(keys[index]) }
  func value(_ index: Int) -> Node { keys[index].value }

  /// Forgets all, and keeps its memory.
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
