/// The keys that a map has: for each known one, the node of the key.
///
/// Who reads them borrows them: they are not copied for each reader of each task.
struct Fields<Key: SchemaKey> {
  private var keys = InlineArray<64, Int32>(repeating: -1)
  private var present: UInt64 = 0
  private var meant: UInt64 = 0

  /// The key as it is written, where the map has it.
  func key(_ key: Key) -> Node? {
    let record = keys[key.rawValue]
    return record < 0 ? nil : Node(record)
  }

  /// The value of a key. A key is one record, so its value is the next.
  subscript(key: Key) -> Node? {
    let record = keys[key.rawValue]
    return record < 0 ? nil : Node(record + 1)
  }

  mutating func set(_ key: Key, to node: Node) {
    keys[key.rawValue] = node.record
    present |= KeySet(key).bits
  }

  /// Whether the map has any of those keys.
  func has(anyOf keys: KeySet<Key>) -> Bool { present & keys.bits != 0 }

  /// The map has an unknown key that was meant as this one, and a mistake says so.
  func isMeant(_ key: Key) -> Bool { meant & KeySet(key).bits != 0 }

  mutating func noteMeant(_ key: Key) { meant |= KeySet(key).bits }
}

/// Some of the keys that a map may have.
struct KeySet<Key: SchemaKey>: Sendable {
  fileprivate let bits: UInt64

  fileprivate init(_ key: Key) { bits = 1 << UInt64(key.rawValue) }

  init(_ keys: some Sequence<Key>) {
    bits = keys.reduce(0) { $0 | KeySet($1).bits }
  }
}
