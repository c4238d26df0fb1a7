/// Reads `vars`.
struct VariableReader {
  let values: ValueReader
  /// `NAME=VALUE` of each `--set`, in order; the last one of a name wins.
  let set: [(name: String, value: String)]

  /// `vars`, and `--set` over them. A value sees the ones above it.
  func read(_ node: Node?) {
    let scope = values.scope
    scope.position = .variables
    if let node, let entries = values.mapEntries(node, Subject(ManifestKey.vars)) {
      for index in 0..<entries.count { readVariable(entries, index) }
    }
    for (name, _) in set where scope.variable(scope.store.copy(name)) == nil {
      values.mistakes.add(
        Mistakes.Mistake(
          severity: .error, place: nil, message: "the manifest has no variable `\(name)`",
          help: scope.suggestions.help(for: scope.store.copy(name), among: scope.variables.texts)
            ?? "only what stands under `vars` can be set", origin: "--set \(name)"))
    }
  }

  private func readVariable(_ entries: Entries, _ index: Int) {
    let scope = values.scope
    let name = entries.name(index)
    guard VariableName.isExpressionName(name) else {
      values.mistakes.error(
        values.document.place(entries.keys[index]), "`\(name.string)` is no name of a variable",
        help: "a name is letters, digits, `_` and `-`, and begins with a letter or `_`")
      return
    }
    let value = values.scalar(
      entries.value(index), .entry("vars", name), expected: "a string, a number or a boolean")
    let given = set.last { name.elementsEqual($0.name.utf8) }
    if let given {
      scope.setVariable(name, scope.store.copy(given.value))
    } else {
      // A value that is wrong is known all the same, or every use of it would be a mistake too.
      scope.setVariable(name, scope.store.copy(value?.text ?? Text(start: nil, count: 0)))
    }
  }
}
