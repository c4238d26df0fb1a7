/// An item of `env_file`, unresolved.
struct VariableFileEntry {
  let node: Node
  let path: Text
  /// Whether a `?` is before the path.
  let mayBeMissing: Bool
}

struct VariableFileReader {
  /// Its texts must live as long as the scope.
  let values: ValueReader
  /// Opens a file, and reports an error if there is none.
  let open: (VariableFileEntry) -> SourceFile?

  /// Adds the variables to the scope and to a layer of `list`. The inherited environment wins.
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
    for (index, name) in known.names.texts.enumerated() {
      let value = winner(name, known.values[index], at: known.places[index])
      scope.setEnvironment(name, value)
      list.set(name, Scalar(node: node, text: value, stable: value, isTyped: false))
    }
  }

  /// Returns the value that wins.
  private func winner(_ name: Text, _ value: Text, at place: Place) -> Text {
    if values.scope.secrets.contains(name) { return value }
    guard let inherited = values.scope.inherited.valueIfSet(name) else { return value }
    if !inherited.isSame(as: value) {
      // The file used to win. Drop the warning in the version after this one.
      let end = Place(file: place.file, offset: place.offset + name.count)
      values.mistakes.hide(Secret(place: end, extent: .rest))
      values.mistakes.warning(
        place, "`\(name.string)` has another value in the environment of opflow, and that wins",
        help: "unset it there, or set it under `env` of the manifest, which wins over both")
    }
    return inherited
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
