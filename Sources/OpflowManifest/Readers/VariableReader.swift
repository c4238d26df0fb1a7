final class GivenVariables {
  /// The last one of a name wins.
  private let given: [(name: String, value: String)]
  private let values: [String: String]
  private var known: Set<String> = []

  init(_ given: [(name: String, value: String)]) {
    self.given = given
    values = Dictionary(given.map { ($0.name, $0.value) }) { $1 }
  }

  /// Marks a declared variable as known.
  func value(of name: ByteView) -> String? {
    guard !given.isEmpty, let value = values[name.string] else { return nil }
    known.insert(name.string)
    return value
  }

  /// - Parameter scope: The scope of the root.
  func reportUnknown(to diagnostics: Diagnostics, scope: NameScope) {
    for (name, _) in given where !known.contains(name) {
      diagnostics.add(
        .error, nil, "the manifest has no variable `\(name)`",
        help: scope.suggestions.help(for: scope.store.copy(name), among: scope.variables.keys.texts)
          ?? "declare it under `vars` in the manifest", origin: "--set \(name)")
    }
  }
}

/// Variables from outside the file, weakest first.
struct OuterVariables {
  /// The including file, whose values win if there is no `as`.
  var winning: (scope: NameScope, file: String)?
  var passed: [PassedVariable] = []
  var given: GivenVariables?
}

struct VariableReader: NodeReader {
  let values: ValueReader
  let outer: OuterVariables

  /// Values see variables from outside and those above them.
  func read(_ node: Node?) {
    scope.position = .variables
    scope.outer = outer.winning?.scope
    for variable in outer.passed {
      let given = outer.given?.value(of: variable.name).map { scope.store.copy($0) }
      scope.setVariable(variable.name, given ?? variable.value)
    }
    if let node, let entries = values.mapEntries(node, Subject(ManifestKey.vars)) {
      let passed = Set(outer.passed.map(\.name.string))
      for index in 0..<entries.count { readVariable(entries, index, passed) }
    }
  }

  private func readVariable(_ entries: Entries, _ index: Int, _ passed: Set<String>) {
    let name = entries.name(index)
    guard values.isVariableName(name, at: entries.keys[index]) else { return }
    let value = values.scalar(
      entries.value(index), .entry("vars", name), expected: "a string, a number or a boolean")
    if let given = outer.given?.value(of: name) {
      scope.setVariable(name, scope.store.copy(given))
    } else if !passed.isEmpty, passed.contains(name.string) {
      return
    } else if let winning = outer.winning, let other = winning.scope.variable(name) {
      if let value, !value.text.isSame(as: other) {
        warn(name, other, winning.file, entries, index)
      }
    } else {
      // Declared despite the error, or every use would be an error too.
      scope.setVariable(name, scope.store.copy(value?.text ?? ByteView.empty))
    }
  }

  private func warn(
    _ name: ByteView, _ value: ByteView, _ file: String, _ entries: Entries, _ index: Int
  ) {
    warning(
      entries.value(index), "`vars.\(name.string)` is `\(value.string)` in \(file), which wins",
      help: "remove one of the two, or include this file with `as`")
  }
}

extension ValueReader {
  func isVariableName(_ name: ByteView, at key: Node) -> Bool {
    if VariableName.isExpressionName(name) { return true }
    error(
      key,
      name.isEmpty
        ? "the variable has no name" : "`\(name.string)` is not a valid variable name",
      help: "a name has letters, digits, `_` and `-`, and begins with a letter or `_`")
    return false
  }
}

/// A class because of its buffer, so that its owners stay immutable.
final class EnvironmentReader: NodeReader {
  let values: ValueReader
  private var entries: Entries

  init(_ values: ValueReader) {
    self.values = values
    entries = Entries(document: values.document)
  }

  /// Overrides variables in `list`.
  func read(_ node: Node, into list: inout EnvironmentList) {
    guard document.kind(node) == .mapping else {
      return values.wrongType(
        node, Subject(TaskKey.env), expected: "a map", help: values.mapHelp(node))
    }
    maps.readEntries(node, into: &entries)
    if scope.isInTask { scope.valuePlace = .late }
    defer { scope.valuePlace = .none }
    for index in 0..<entries.count {
      let name = entries.name(index)
      guard values.isTaskVariable(name, at: entries.keys[index]),
        let value = values.scalar(
          entries.value(index), .entry("env", name), expected: "a string, a number or a boolean")
      else { continue }
      values.warnOfShellText(value, entries.value(index), .entry("env", name))
      list.set(name, value)
    }
  }
}
