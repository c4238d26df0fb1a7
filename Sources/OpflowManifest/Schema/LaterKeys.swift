/// Keys of later versions: known, and refused as such, so that nobody takes them for misspelled.
enum LaterKeys {
  private static let all: [(name: StaticString, map: KeyMap, help: String)] = [
    (
      "memory", .retry,
      "every attempt gets the same memory: set `memory_limit` and `resources: { memory: SIZE }` of the task to"
        + " what its largest attempt needs"
    )
  ]

  /// What to do instead of a key that `owner` has in a later version; nil for any other.
  static func help(_ name: Text, owner: StaticString) -> String? {
    all.first { name == $0.name && owner.description == $0.map.place }?.help
  }
}
