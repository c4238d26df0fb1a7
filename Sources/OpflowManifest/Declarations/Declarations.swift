// What the files of a manifest declare: what stands where, with nothing evaluated. The values come
// later (`TaskReader`), once all that is declared is known.

/// One file, and the keys at its top: the scope of its tasks.
struct FileDeclaration {
  let document: YAMLDocument
  let keys: Fields<ManifestKey>
}

/// A task as it is declared: by a key with its value, in a file.
struct TaskDeclaration {
  /// In the order in which files were begun.
  let file: Int32
  let key: Node
}

/// Tasks in the order in which they are declared, whatever file they stand in, found by name.
struct TaskDeclarations: EntryList {
  private var documents: [YAMLDocument] = []
  private var declared: [TaskDeclaration] = []
  private var index = NameIndex()

  /// What is declared from now on stands in that document.
  mutating func begin(_ document: YAMLDocument) { documents.append(document) }

  var count: Int { declared.count }

  func key(_ number: Int) -> Node { declared[number].key }
  func document(_ number: Int) -> YAMLDocument { documents[Int(declared[number].file)] }
  func name(_ number: Int) -> Text { document(number).text(declared[number].key) }

  var names: some Sequence<Text> { (0..<count).lazy.map { name($0) } }

  func index(of name: Text) -> Int? { index.index(of: name) }

  mutating func insert(_ key: Node, _ name: Text) -> Int? {
    if let known = index.insert(name) { return known }
    let file = Int32(truncatingIfNeeded: documents.count - 1)
    declared.append(TaskDeclaration(file: file, key: key))
    return nil
  }
}
