/// The keys that a map has: for each known one, the node of the key.
struct Fields<Key: SchemaKey> {
  private var keys = InlineArray<64, Int32>(repeating: -1)
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

  mutating func set(_ key: Key, to node: Node) { keys[key.rawValue] = node.record }

  /// The map has an unknown key that was meant as this one, and a mistake says so.
  func isMeant(_ key: Key) -> Bool { meant & (1 << UInt64(key.rawValue)) != 0 }

  mutating func noteMeant(_ key: Key) { meant |= 1 << UInt64(key.rawValue) }
}
