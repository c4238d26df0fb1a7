/// The keys that a map has: for each known one, the node of the key.
struct Fields<Key: SchemaKey> {
  private var keys = InlineArray<64, Int32>(repeating: -1)
  /// Bits of the keys that it has: asked first, since a look into `keys` by a number that the compiler does not
  /// know copies all of them.
  private var present: UInt64 = 0
  private var meant: UInt64 = 0

  /// Whether the map has it.
  @inline(__always)
  func has(_ key: Key) -> Bool { present & Self.bit(key) != 0 }

  /// The key as it is written, where the map has it.
  @inline(__always)
  func key(_ key: Key) -> Node? { has(key) ? Node(keys[key.rawValue]) : nil }

  /// The value of a key. A key is one record, so its value is the next.
  @inline(__always)
  subscript(key: Key) -> Node? { has(key) ? Node(keys[key.rawValue] + 1) : nil }

  mutating func set(_ key: Key, to node: Node) {
    keys[key.rawValue] = node.record
    present |= Self.bit(key)
  }

  /// The map has an unknown key that was meant as this one, and a mistake says so.
  func isMeant(_ key: Key) -> Bool { meant & Self.bit(key) != 0 }

  mutating func noteMeant(_ key: Key) { meant |= Self.bit(key) }

  private static func bit(_ key: Key) -> UInt64 { 1 << UInt64(key.rawValue) }
}
