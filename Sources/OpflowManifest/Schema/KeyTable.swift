/// Numbered from 0.
protocol SchemaKey: RawRepresentable<Int>, CaseIterable, Sendable {
  /// In the order of the cases.
  static var table: [KeyRow] { get }
}

extension SchemaKey {
  var row: KeyRow { Self.table[rawValue] }
  var name: StaticString { row.name }
}

struct KeyTable<Key: SchemaKey> {
  let map: KeyMap
  /// The map's name in errors.
  let owner: StaticString
  private var words = TextTable()
  private let keys: [Key]

  init(_ map: KeyMap, _ owner: StaticString, _ keys: [Key] = Array(Key.allCases)) {
    (self.map, self.owner, self.keys) = (map, owner, keys)
    for key in keys { _ = words.insert(ByteView(key.name)) }
  }

  func key(_ text: ByteView) -> Key? { words.index(of: text).map { keys[$0] } }

  var names: [ByteView] { words.texts }
}

struct Fields<Key: SchemaKey> {
  private var keys = InlineArray<64, Int32>(repeating: -1)
  /// One bit per key. Tested first, because indexing `keys` with a variable copies the array.
  private var present: UInt64 = 0
  private var meant: UInt64 = 0

  @inline(__always)
  func has(_ key: Key) -> Bool { present & Self.bit(key) != 0 }

  @inline(__always)
  func key(_ key: Key) -> Node? { has(key) ? Node(keys[key.rawValue]) : nil }

  /// A key is one record, so its value is the next.
  @inline(__always)
  subscript(key: Key) -> Node? { has(key) ? Node(keys[key.rawValue] + 1) : nil }

  mutating func set(_ key: Key, to node: Node) {
    keys[key.rawValue] = node.record
    present |= Self.bit(key)
  }

  /// An unknown key was reported as probably this one.
  func isMeant(_ key: Key) -> Bool { meant & Self.bit(key) != 0 }

  mutating func noteMeant(_ key: Key) { meant |= Self.bit(key) }

  private static func bit(_ key: Key) -> UInt64 { 1 << UInt64(key.rawValue) }
}
