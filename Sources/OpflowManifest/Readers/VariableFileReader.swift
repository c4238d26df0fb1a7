/// An item of `env_file` as it is written.
struct VariableFileEntry {
  let node: Node
  let path: Text
  /// It may be missing: a `?` stands before the path.
  let mayBeMissing: Bool
}

/// Reads `env_file`.
struct VariableFileReader {
  /// Whose texts must live as long as the scope.
  let values: ValueReader
  /// Finds a file, with the mistake reported where there is none.
  let open: (VariableFileEntry) -> SourceFile?

  /// Reads the files in their order, and makes their variables those of the scope and the first ones of
  /// `list`.
  func read(_ node: Node, into list: inout EnvironmentList) {
    guard
      let items = values.items(
        node, Subject(ManifestKey.envFile), expected: "a list of paths")
    else { return }
    let scope = values.scope
    var known: VariableFile?
    for item in items {
      guard let entry = readItem(item), let file = open(entry) else { continue }
      var variables = VariableFile(
        file, after: known.take(), mistakes: values.mistakes, store: values.scratch,
        inherited: { name in
          guard scope.secrets.contains(name) else { return scope.inherited.valueIfSet(name) }
          values.mistakes.error(
            values.document.place(item),
            "a file of `env_file` reads `\(name.string)`, which is a secret")
          return nil
        })
      variables.read()
      known = variables
    }
    guard let known else { return }
    list.beginLayer()
    for (name, value) in zip(known.names.texts, known.values) {
      scope.setEnvironment(name, value)
      list.set(name, Scalar(node: node, text: value, stable: value, isTyped: false))
    }
  }

  private func readItem(_ node: Node) -> VariableFileEntry? {
    let subject = Subject.item(of: ManifestKey.envFile)
    if values.document.kind(node) == .mapping {
      values.wrongType(
        node, subject, expected: "a path",
        help: "write the path alone; `?path` is one that may be missing")
      return nil
    }
    guard let path = values.filledString(node, subject) else { return nil }
    values.warnOfShellText(path, node, subject)
    let mayBeMissing = path.text.first == UInt8(ascii: "?")
    let text = mayBeMissing ? path.text.part(1..<path.text.count) : path.text
    if text.trimmed.isEmpty {
      values.mistakes.error(values.document.place(node), "no path follows the `?`")
      return nil
    }
    return VariableFileEntry(
      node: node, path: values.scope.store.copy(text), mayBeMissing: mayBeMissing)
  }
}
