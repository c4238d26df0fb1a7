/// Keys of later versions: known, and refused as such, so that nobody takes them for misspelled.
enum LaterKeys {
  private static let ofTask: [StaticString] = [
    "clean"
  ]

  /// Whether a map of `owner` has that key in a later version.
  static func contains(_ name: Text, owner: StaticString) -> Bool {
    switch owner.description {
    case TaskKey.owner.description: ofTask.contains { name == $0 }
    default: false
    }
  }
}
