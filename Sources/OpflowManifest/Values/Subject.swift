/// Names a value in error messages.
enum Subject {
  case key(StaticString)
  case item(StaticString)
  /// The value of a user-defined name in a map.
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
