internal import OpflowCore

// The top-level keys but `defaults` and `tasks`.

extension ManifestReader {
  mutating func readVersion(_ fields: Fields<ManifestKey>) {
    guard let node = fields[.version],
      let version = values.integer(node, Subject(ManifestKey.version), in: Int64.min...Int64.max),
      version != 1
    else { return }
    mistakes.error(
      document.place(node), "this opflow reads version 1 of the format, not \(version)",
      help: "it is the version of the manifest's format; leave it out, or write `version: 1`")
  }

  /// `vars`, and `--set` over them. A value sees the ones above it.
  mutating func readVariables(_ node: Node?) {
    scope.position = .variables
    if let node, let entries = mapEntries(node, Subject(ManifestKey.vars)) {
      for index in 0..<entries.count { readVariable(entries, index) }
    }
    for (name, _) in options.variables where scope.variable(scope.store.copy(name)) == nil {
      mistakes.add(
        Mistakes.Mistake(
          severity: .error, place: nil, message: "the manifest has no variable `\(name)`",
          help: scope.suggestions.help(for: scope.store.copy(name), among: scope.variables.texts)
            ?? "only what stands under `vars` can be set", origin: "--set \(name)"))
    }
  }

  private mutating func readVariable(_ entries: Entries, _ index: Int) {
    let name = entries.name(index)
    guard VariableName.isExpressionName(name) else {
      mistakes.error(
        document.place(entries.keys[index]), "`\(name.string)` is no name of a variable",
        help: "a name is letters, digits, `_` and `-`, and begins with a letter or `_`")
      return
    }
    let value = values.scalar(
      entries.value(index), .entry("vars", name), expected: "a string, a number or a boolean")
    let set = options.variables.last { name.elementsEqual($0.name.utf8) }
    if let set {
      scope.setVariable(name, scope.store.copy(set.value))
    } else {
      // A value that is wrong is known all the same, or every use of it would be a mistake too.
      scope.setVariable(name, scope.store.copy(value?.text ?? Text(start: nil, count: 0)))
    }
  }

  mutating func readEnvironment(_ node: Node?) {
    scope.position = .environment
    guard let node else { return }
    var list = EnvironmentList()
    readEnvironment(node, into: &list) { scope, name, value in
      scope.setEnvironment(name, scope.store.copy(value))
    }
    environment = list
  }

  mutating func readTopLevel(_ fields: Fields<ManifestKey>) {
    if let node = fields[.name], let text = values.filledString(node, Subject(ManifestKey.name)) {
      name = text.text.string
    }
    if let node = fields[.desc], let text = values.string(node, Subject(ManifestKey.desc)) {
      description = builder.intern(text.text)
    }
    if let node = fields[.maxFailures],
      let value = values.integer(node, Subject(ManifestKey.maxFailures), in: 0...1_000_000_000)
    {
      maxFailures = UInt32(value)
    }
    if let node = fields[.maxParallel] { readMaxParallel(node) }
  }

  private mutating func readMaxParallel(_ node: Node) {
    let subject = Subject(ManifestKey.maxParallel)
    guard let scalar = values.scalar(node, subject, expected: "a whole number or `auto`") else {
      return
    }
    if scalar.text == "auto" { return }
    if let value = values.integer(
      node, subject, in: 1...1_000_000, expected: "a whole number or `auto`")
    {
      maxParallel = UInt32(value)
    }
  }

  mutating func readInclude(_ key: Node) {
    let node = Node(key.record + 1)
    _ = values.strings(node, ManifestKey.include, expected: "a list of paths")
    reportUnsupported(key, "include")
  }

  func reportUnsupported(_ key: Node, _ name: StaticString) {
    mistakes.error(document.place(key), "`\(name)` is not supported yet")
  }

  /// The entries of a value that must be a map.
  mutating func mapEntries(_ node: Node, _ subject: Subject) -> Entries? {
    guard document.kind(node) == .mapping else {
      values.wrongType(node, subject, expected: "a map", help: values.mapHelp(node))
      return nil
    }
    return maps.entries(node)
  }
}
