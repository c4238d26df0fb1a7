/// Reads `env`. It is a class because of its buffer, so that its owners stay immutable.
final class EnvironmentReader {
  let values: ValueReader
  private var entries: Entries

  init(_ values: ValueReader) {
    self.values = values
    entries = Entries(document: values.document)
  }

  /// Adds variables, which override those in `list`.
  func read(_ node: Node, into list: inout EnvironmentList) {
    guard values.document.kind(node) == .mapping else {
      values.wrongType(
        node, Subject(TaskKey.env), expected: "a map", help: values.mapHelp(node))
      return
    }
    values.maps.readEntries(node, into: &entries)
    list.beginLayer()
    if values.scope.isInTask { values.scope.valuePlace = .late }
    defer { values.scope.valuePlace = .none }
    for index in 0..<entries.count {
      let name = entries.name(index)
      guard values.isTaskVariable(name, at: entries.keys[index]),
        let value = values.scalar(
          entries.value(index), .entry("env", name),
          expected: "a string, a number or a boolean")
      else { continue }
      values.warnOfShellText(value, entries.value(index), .entry("env", name))
      list.set(name, value)
    }
  }
}
