/// What a value in the manifest is, for the text of a mistake.
enum Subject {
  /// The value of a key.
  case key(StaticString)
  /// An item of a key's list.
  case item(StaticString)
  /// The value of a name that the user chose, within a map.
  case entry(StaticString, Text)

  init(_ key: some SchemaKey) { self = .key(key.name) }

  static func item(of key: some SchemaKey) -> Subject { .item(key.name) }

  var description: String {
    switch self {
    case .key(let name): "`\(name)`"
    case .item(let name): "an item of `\(name)`"
    case .entry(let map, let name): "`\(map).\(name.string)`"
    }
  }
}
