/// Describes a key for help, JSON schema and manual, and for tests of the readers.
struct KeyRow {
  let takes: ValueShape
  /// The default as shown to users; may be empty.
  let standard: String
  /// A description in one line.
  let meaning: String
  /// The lines of a map that uses the key.
  let example: String

  init(_ takes: ValueShape, standard: String = "", _ meaning: String, example: String) {
    self.takes = takes
    self.standard = standard
    self.meaning = meaning
    self.example = example
  }
}

struct KeyEntry {
  let name: String
  let row: KeyRow
}
