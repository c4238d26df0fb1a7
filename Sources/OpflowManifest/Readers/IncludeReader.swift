struct IncludeEntry {
  let node: Node
  let path: ByteView
  /// Nil if IDs get no prefix.
  let name: ByteView?
  /// The node of `as`, or of the path.
  let nameNode: Node
  let variables: [PassedVariable]
}

struct PassedVariable {
  let key: Node
  let name: ByteView
  let value: ByteView
}

/// Reads `include`; `FileLoader` finds the files.
struct IncludeReader: NodeReader {
  let values: ValueReader

  /// `isWhole` is false if an item is invalid.
  func read(_ keys: Fields<ManifestKey>) -> (entries: [IncludeEntry], isWhole: Bool) {
    guard let key = keys.key(.include) else { return ([], true) }
    guard document.kind(key.value) != .mapping else {
      values.wrongType(
        key.value, Subject(ManifestKey.include), expected: "a list of paths", help: mapHelp(key))
      return ([], false)
    }
    guard
      let items = values.items(key.value, Subject(ManifestKey.include), expected: "a list of paths")
    else { return ([], false) }
    var entries: [IncludeEntry] = []
    var count = 0
    for item in items {
      count += 1
      if let entry = readItem(item) { entries.append(entry) }
    }
    return (entries, entries.count == count)
  }

  private func readItem(_ node: Node) -> IncludeEntry? {
    guard document.kind(node) == .mapping, values.quotingHelp(node) == nil else {
      guard let path = readPath(node, .item(of: ManifestKey.include)) else { return nil }
      return IncludeEntry(node: node, path: path, name: nil, nameNode: node, variables: [])
    }
    let fields = maps.fields(node, tables.include)
    let variables = fields[.vars].map { readVariables($0) } ?? []
    var name: ByteView?
    if let prefix = fields[.prefix] {
      name = readName(prefix)
      if name == nil { return nil }
    }
    guard let path = fields[.path] else {
      if !fields.isMeant(.path) {
        error(node, "an item of `include` has no `path`", help: "write { path: FILE, as: NAME }")
      }
      return nil
    }
    guard let text = readPath(path, Subject(IncludeKey.path)) else { return nil }
    return IncludeEntry(
      node: path, path: text, name: name, nameNode: fields[.prefix] ?? path, variables: variables)
  }

  private func readPath(_ node: Node, _ subject: Subject) -> ByteView? {
    guard let path = values.filledString(node, subject) else { return nil }
    values.warnOfShellText(path, node, subject)
    if path.text.contains(0) {
      return error(node, "\(subject.description) contains a NUL byte", help: "remove it")
    }
    if Self.isAddress(path.text) {
      return error(
        node, "\(subject.description) must be a path, not an address",
        help: "opflow includes files of this machine; fetch the file first, and write its path")
    }
    return scope.store.copy(path.text)
  }

  private static func isAddress(_ path: ByteView) -> Bool {
    path.hasPrefix("https://") || path.hasPrefix("http://") || path.hasPrefix("git@")
      || path.hasPrefix("ssh://") || path.hasPrefix("git://")
  }

  private func readName(_ node: Node) -> ByteView? {
    let subject = Subject(IncludeKey.prefix)
    guard let name = values.filledString(node, subject) else { return nil }
    if TaskName.problem(name.text) == nil, !name.text.contains(UInt8(ascii: "/")) {
      return scope.store.copy(name.text)
    }
    return error(
      node, "\(subject.description) must be a name, not `\(name.text.string)`",
      help: "a name has letters, digits and `_ . - + @ :`, and begins with a letter, digit or `_`")
  }

  private func readVariables(_ node: Node) -> [PassedVariable] {
    guard let entries = values.mapEntries(node, Subject(IncludeKey.vars)) else { return [] }
    var result: [PassedVariable] = []
    for index in 0..<entries.count {
      let name = entries.name(index)
      guard values.isVariableName(name, at: entries.keys[index]),
        let value = values.scalar(
          entries.value(index), .entry("vars", name), expected: "a string, a number or a boolean")
      else { continue }
      result.append(
        PassedVariable(key: entries.keys[index], name: name, value: scope.store.copy(value.text)))
    }
    return result
  }

  /// Advice for go-task's `include: { db: db.yaml }`.
  private func mapHelp(_ key: Node) -> String {
    var children = document.children(key.value)
    guard let name = children.next(), let value = children.next(),
      let path = document.scalarText(value), let text = document.scalarText(name), !path.isEmpty,
      path.count <= 80, text.count <= 80, TaskName.problem(text) == nil
    else { return "write a list: [FILE, { path: FILE, as: NAME }]" }
    return ["path", "file", "local"].contains(text.string)
      ? "write a list: [{ path: \(path.string) }]"
      : "write a list: [{ path: \(path.string), as: \(text.string) }]"
  }
}
