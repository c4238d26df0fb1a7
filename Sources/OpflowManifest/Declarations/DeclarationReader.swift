/// Reads what a file declares.
struct DeclarationReader {
  let values: ValueReader

  /// Reads the top-level keys; returns nil after an error.
  func readFile() -> FileDeclaration? {
    let document = values.document
    guard document.kind(document.root) == .mapping else {
      reportNoMap()
      return nil
    }
    let keys = values.maps.fields(
      document.root, values.tables.manifest, owner: ManifestKey.owner
    ) { $0.hasPrefix("x-") }
    return FileDeclaration(document: document, keys: keys)
  }

  /// - Parameter prefix: Prepended to the IDs.
  func readTasks(
    of file: FileDeclaration, prefix: Text = Text(start: nil, count: 0), mayBeEmpty: Bool = false,
    into tasks: inout TaskDeclarations
  ) {
    let document = file.document
    tasks.begin(document, prefix: prefix)
    let mayHaveNone = mayBeEmpty || file.keys.key(.include) != nil
    guard let node = file.keys[.tasks] else {
      if mayHaveNone || file.keys.isMeant(.tasks) || file.keys.isMeant(.include) { return }
      values.mistakes.error(
        document.place(document.root), "`tasks` is missing",
        help: "declare at least one task under `tasks`")
      return
    }
    guard document.kind(node) == .mapping else {
      values.wrongType(
        node, Subject(ManifestKey.tasks), expected: "a map from ids to tasks",
        help: values.describe(node) == "empty"
          ? "write the tasks below it, further to the right" : listedTaskHelp(node))
      return
    }
    let before = tasks.count
    values.maps.collect(node, into: &tasks)
    for clash in tasks.clashes { report(clash, of: tasks) }
    if tasks.count == before, tasks.clashes.isEmpty, !mayHaveNone {
      values.mistakes.error(
        document.place(node), "`tasks` is empty", help: "declare at least one task")
    }
  }

  /// Reports that two files declare the same ID.
  private func report(_ clash: (key: Node, first: Int), of tasks: TaskDeclarations) {
    let name = tasks.name(clash.first).string
    values.mistakes.add(
      Mistakes.Mistake(
        severity: .error, place: values.document.place(clash.key),
        message: "the id `\(name)` is taken: another file has a task of that name",
        help: "rename one of them, or include one of the files with an `as`",
        notes: [
          .init(
            place: tasks.document(clash.first).place(tasks.key(clash.first)),
            message: "the first `\(name)`")
        ]))
  }

  private func reportNoMap() {
    let document = values.document
    let node = document.root
    let isNothing = values.describe(node) == "empty"
    values.mistakes.error(
      isNothing ? document.file.place(0) : document.place(node),
      isNothing
        ? "the manifest is empty" : "the manifest must be a map, not \(values.describe(node))",
      help: isNothing
        ? "declare at least one task under `tasks`" : "begin with a key, such as `tasks:`")
  }

  /// Advice for a list of maps with a `name`, as in playbooks.
  private func listedTaskHelp(_ node: Node) -> String? {
    let document = values.document
    guard document.kind(node) == .sequence else { return nil }
    var children = document.children(node)
    var id = "build"
    if let first = children.next(), document.kind(first) == .mapping {
      var entries = document.children(first)
      while let key = entries.next(), let value = entries.next() {
        guard let name = document.scalarText(key), name == "name" || name == "id",
          let text = document.scalarText(value), TaskName.mistake(text) == nil
        else { continue }
        id = text.string
        break
      }
    }
    return "each task stands under its id: `tasks: { \(id): { run: … } }`"
  }
}
