// Not evaluated: `TaskReader` does so once all declarations are known.

struct FileDeclaration {
  let document: YAMLDocument
  let keys: Fields<ManifestKey>
}

struct TaskDeclaration {
  /// The number of the file, in the order of `begin`.
  let file: Int32
  let key: Node
}

struct TaskDeclarations: EntryList {
  /// A file at one place where it is included.
  private struct File {
    let document: YAMLDocument
    /// Prepended to task IDs: empty, or names that each end in `/`.
    let prefix: ByteView
    /// The file's first task, and its first entry in `joinedNames`.
    let first: Int
    let firstName: Int
  }

  private var files: [File] = []
  private var declared: [TaskDeclaration] = []
  private var joinedNames: [ByteView] = []
  private var index = TextTable()
  private let store = TextStore()
  private let wanted = TextStore()
  /// An earlier file declares these IDs too.
  private(set) var clashes: [(key: Node, first: Int)] = []

  mutating func begin(_ document: YAMLDocument, prefix: ByteView = ByteView.empty) {
    clashes.removeAll()
    files.append(
      File(document: document, prefix: prefix, first: declared.count, firstName: joinedNames.count))
  }

  var count: Int { declared.count }

  func key(_ number: Int) -> Node { declared[number].key }
  func document(_ number: Int) -> YAMLDocument { files[Int(declared[number].file)].document }

  func name(_ number: Int) -> ByteView {
    let file = files[Int(declared[number].file)]
    return file.prefix.isEmpty
      ? file.document.text(declared[number].key) : joinedNames[file.firstName + number - file.first]
  }

  /// The number of the file.
  func part(_ number: Int) -> Int { Int(declared[number].file) }

  func prefix(_ number: Int) -> ByteView { files[Int(declared[number].file)].prefix }

  var names: some Sequence<ByteView> { (0..<count).lazy.map { name($0) } }

  func index(of name: ByteView) -> Int? { index.index(of: name) }

  /// Searches the file of task `number`, then each outer prefix. `/` starts at the root.
  @inline(__always)
  func index(of name: ByteView, seenFrom number: Int) -> Int? {
    isID(name) ? index.index(of: name) : nearestIndex(of: name, seenFrom: number)
  }

  private func nearestIndex(of name: ByteView, seenFrom number: Int) -> Int? {
    first(of: name, seenFrom: number) { index(of: $0) }
  }

  /// True if the name has the same meaning in all files.
  func isID(_ name: ByteView) -> Bool { joinedNames.isEmpty && name.first != UInt8(ascii: "/") }

  /// Tries each ID that the name may mean, nearest first.
  @inline(__always)
  func first<Found>(of name: ByteView, seenFrom number: Int, _ find: (ByteView) -> Found?) -> Found?
  {
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

  func without(_ ids: Set<String>) -> TaskDeclarations {
    ids.isEmpty ? self : filtered { !ids.contains($0.string) }
  }

  func filtered(_ isWanted: (ByteView) -> Bool) -> TaskDeclarations {
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

  mutating func insert(_ key: Node, _ name: ByteView) -> Int? {
    guard let file = files.last else { return nil }
    let id = file.prefix.isEmpty ? name : joined(file.prefix, name)
    if let known = index.add(id) {
      if known < file.first { clashes.append((key, known)) }
      return known
    }
    if !file.prefix.isEmpty { joinedNames.append(id) }
    declared.append(TaskDeclaration(file: Int32(truncatingIfNeeded: files.count - 1), key: key))
    return nil
  }

  private func joined(_ prefix: ByteView, _ name: ByteView) -> ByteView {
    store.append(prefix)
    store.append(name)
    return store.finish()
  }
}

struct DeclarationReader: NodeReader {
  let values: ValueReader

  func readFile() -> FileDeclaration? {
    guard document.kind(document.root) == .mapping else {
      reportNoMap()
      return nil
    }
    let keys = maps.fields(document.root, tables.manifest) { $0.hasPrefix("x-") }
    return FileDeclaration(document: document, keys: keys)
  }

  func readTasks(
    of file: FileDeclaration, prefix: ByteView = ByteView.empty, mayBeEmpty: Bool = false,
    into tasks: inout TaskDeclarations
  ) {
    let document = file.document
    tasks.begin(document, prefix: prefix)
    let mayHaveNone = mayBeEmpty || file.keys.key(.include) != nil
    guard let node = file.keys[.tasks] else {
      if mayHaveNone || file.keys.isMeant(.tasks) || file.keys.isMeant(.include) { return }
      return error(
        document.root, "`tasks` is missing", help: "declare at least one task under `tasks`")
    }
    guard document.kind(node) == .mapping else {
      return values.wrongType(
        node, Subject(ManifestKey.tasks), expected: "a map of task IDs to tasks",
        help: values.describe(node) == "empty"
          ? "write the tasks below it, indented" : listedTaskHelp(node))
    }
    let before = tasks.count
    maps.collect(node, into: &tasks)
    for clash in tasks.clashes { report(clash, of: tasks) }
    if tasks.count == before, tasks.clashes.isEmpty, !mayHaveNone {
      error(node, "`tasks` is empty", help: "declare at least one task")
    }
  }

  private func report(_ clash: (key: Node, first: Int), of tasks: TaskDeclarations) {
    let name = tasks.name(clash.first).string
    diagnostics.add(
      .error, document.place(clash.key),
      "another file already has a task `\(name)`",
      help: "rename one of the tasks, or include one of the files with an `as`",
      notes: [
        .init(
          place: tasks.document(clash.first).place(tasks.key(clash.first)),
          message: "the first `\(name)`")
      ])
  }

  private func reportNoMap() {
    let node = document.root
    let isNothing = values.describe(node) == "empty"
    diagnostics.error(
      isNothing ? document.file.place(0) : document.place(node),
      isNothing
        ? "the manifest is empty" : "the manifest must be a map, not \(values.describe(node))",
      help: isNothing
        ? "declare at least one task under `tasks`" : "begin with a key, such as `tasks:`")
  }

  /// Advice for a list of maps with a `name`, as in playbooks.
  private func listedTaskHelp(_ node: Node) -> String? {
    guard document.kind(node) == .sequence else { return nil }
    var children = document.children(node)
    var id = "build"
    if let first = children.next(), document.kind(first) == .mapping {
      var entries = document.children(first)
      while let key = entries.next(), let value = entries.next() {
        guard let name = document.scalarText(key), name == "name" || name == "id",
          let text = document.scalarText(value), TaskName.problem(text) == nil
        else { continue }
        id = text.string
        break
      }
    }
    return "write each task under its ID: `tasks: { \(id): { run: … } }`"
  }
}
