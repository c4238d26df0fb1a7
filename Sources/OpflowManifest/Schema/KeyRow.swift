/// What the table says of a key besides its word: for the help, the schema and the manual, and for the
/// tests, which hold the readers to it.
struct KeyRow {
  let takes: ValueShape
  /// What holds where the key is not written, as a person writes it; empty where that is nothing.
  let standard: String
  /// A line for people.
  let meaning: String
  /// Lines of a map that has the key.
  let example: String

  init(_ takes: ValueShape, standard: String = "", _ meaning: String, example: String) {
    self.takes = takes
    self.standard = standard
    self.meaning = meaning
    self.example = example
  }
}

/// A key with its row, whatever map it is of.
struct KeyEntry {
  let name: String
  let row: KeyRow
}
