/// Keys of later versions, which get their own error.
enum LaterKeys {
  private static let all: [(name: StaticString, map: KeyMap, help: String)] = [
    (
      "memory", .retry,
      "every attempt gets the same memory: set `memory_limit` and `resources: { memory: SIZE }` of "
        + "the task to what its largest attempt needs"
    )
  ]

  /// Returns nil for any other key.
  static func help(_ name: Text, owner: StaticString) -> String? {
    all.first { name == $0.name && owner.description == $0.map.place }?.help
  }
}
