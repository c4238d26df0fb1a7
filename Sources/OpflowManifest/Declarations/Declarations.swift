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
  /// A file in one of the places where it is included.
  private struct File {
    let document: YAMLDocument
    /// What the ids of its tasks begin with: nothing, or names with a `/` behind each.
    let prefix: Text
    /// Of its tasks, in all and in `joinedNames`.
    let first: Int
    let firstName: Int
  }

  private var files: [File] = []
  private var declared: [TaskDeclaration] = []
  /// Ids that stand in no file as they are: those with a prefix.
  private var joinedNames: [Text] = []
  private var index = NameIndex()
  /// Holds these ids.
  private let store = TextStore()
  /// Holds one that is looked for.
  private let wanted = TextStore()
  /// Tasks of the last file whose id an earlier file has already, each with that one's number.
  private(set) var clashes: [(key: Node, first: Int)] = []

  /// What is declared from now on stands in that document, and has ids that begin so.
  mutating func begin(_ document: YAMLDocument, prefix: Text = Text(start: nil, count: 0)) {
    clashes.removeAll()
    files.append(
      File(document: document, prefix: prefix, first: declared.count, firstName: joinedNames.count))
  }

  var count: Int { declared.count }

  func key(_ number: Int) -> Node { declared[number].key }
  func document(_ number: Int) -> YAMLDocument { files[Int(declared[number].file)].document }

  /// The id of a task.
  func name(_ number: Int) -> Text {
    let file = files[Int(declared[number].file)]
    return file.prefix.isEmpty
      ? file.document.text(declared[number].key) : joinedNames[file.firstName + number - file.first]
  }

  /// The number of its file, in the order in which files were begun.
  func part(_ number: Int) -> Int { Int(declared[number].file) }

  /// What the id of a task begins with that its file does not say.
  func prefix(_ number: Int) -> Text { files[Int(declared[number].file)].prefix }

  var names: some Sequence<Text> { (0..<count).lazy.map { name($0) } }

  func index(of name: Text) -> Int? { index.index(of: name) }

  /// The task that a name means in the file of another one: of that file's own names, then of those
  /// around it. With a `/` before it, it is one of the root.
  @inline(__always)
  func index(of name: Text, seenFrom number: Int) -> Int? {
    isID(name) ? index.index(of: name) : nearestIndex(of: name, seenFrom: number)
  }

  private func nearestIndex(of name: Text, seenFrom number: Int) -> Int? {
    first(of: name, seenFrom: number) { index(of: $0) }
  }

  /// Whether a name means the task of that id wherever it stands.
  func isID(_ name: Text) -> Bool { joinedNames.isEmpty && name.first != UInt8(ascii: "/") }

  /// The first that `find` finds of the ids that a name may mean there, nearest first.
  @inline(__always)
  func first<Found>(
    of name: Text, seenFrom number: Int, _ find: (Text) -> Found?
  ) -> Found? {
    if name.first == UInt8(ascii: "/") { return find(name.part(1..<name.count)) }
    var prefix = prefix(number)
    while !prefix.isEmpty {
      wanted.removeAll()
      wanted.append(prefix)
      wanted.append(name)
      if let found = find(wanted.finish()) { return found }
      let outer = prefix.part(0..<(prefix.count - 1)).lastIndex(of: UInt8(ascii: "/"))
      prefix = prefix.part(0..<(outer.map { $0 + 1 } ?? 0))
    }
    return find(name)
  }

  /// The same without tasks of these ids.
  func without(_ ids: Set<String>) -> TaskDeclarations {
    ids.isEmpty ? self : filtered { !ids.contains($0.string) }
  }

  /// The same with the tasks alone whose id is one of those wanted.
  func filtered(_ isWanted: (Text) -> Bool) -> TaskDeclarations {
    var rest = TaskDeclarations()
    for (number, file) in files.enumerated() {
      rest.begin(file.document, prefix: file.prefix)
      let end = number + 1 < files.count ? files[number + 1].first : count
      for task in file.first..<end where isWanted(name(task)) {
        let key = key(task)
        _ = rest.insert(key, file.document.text(key))
      }
    }
    return rest
  }

  mutating func insert(_ key: Node, _ name: Text) -> Int? {
    guard let file = files.last else { return nil }
    let id = file.prefix.isEmpty ? name : joined(file.prefix, name)
    if let known = index.insert(id) {
      if known < file.first { clashes.append((key, known)) }
      return known
    }
    if !file.prefix.isEmpty { joinedNames.append(id) }
    declared.append(TaskDeclaration(file: Int32(truncatingIfNeeded: files.count - 1), key: key))
    return nil
  }

  private func joined(_ prefix: Text, _ name: Text) -> Text {
    store.append(prefix)
    store.append(name)
    return store.finish()
  }
}
