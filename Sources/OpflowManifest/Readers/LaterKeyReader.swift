/// Reads keys of tasks that nothing is done with yet, in full: what is wrong with them is said besides.
struct LaterKeyReader {
  let values: ValueReader

  /// Reads `matrix`, of which expressions of the task may speak.
  func begin(_ keys: Fields<TaskKey>) {
    if let matrix = keys.key(.matrix) { readMatrix(matrix) }
  }

  /// Reads the others.
  func end(_ keys: Fields<TaskKey>, into task: inout TaskValues) {
    readFiles(keys, into: &task)
    if keys.key(.matrix) != nil { values.scope.matrixNames.removeAll(keepingCapacity: true) }
  }

  private func readMatrix(_ key: Node) {
    values.reportUnsupported(key, "matrix")
    guard let entries = values.mapEntries(key.value, Subject(TaskKey.matrix)) else { return }
    if entries.count == 0 {
      values.mistakes.error(values.document.place(key.value), "`matrix` is empty")
    }
    for index in 0..<entries.count {
      let name = entries.name(index)
      values.scope.matrixNames.append(name)
      if !VariableName.isExpressionName(name) {
        values.mistakes.error(
          values.document.place(entries.keys[index]), "`\(name.string)` is no name in a `matrix`",
          help: "a name is letters, digits, `_` and `-`, and begins with a letter or `_`")
      }
      let subject = Subject.entry("matrix", name)
      guard let items = values.items(entries.value(index), subject, expected: "a list") else {
        continue
      }
      if items.isEmpty {
        values.mistakes.error(
          values.document.place(entries.value(index)), "\(subject.description) is empty")
      }
      for item in items {
        _ = values.scalar(item, subject, expected: "a list of strings, numbers or booleans")
      }
    }
  }

  private func readFiles(_ keys: Fields<TaskKey>, into task: inout TaskValues) {
    if let inputs = keys.key(.inputs) {
      _ = values.strings(inputs.value, TaskKey.inputs, expected: "a list of paths")
      values.reportUnsupported(inputs, "inputs")
    }
    if let outputs = keys.key(.outputs) {
      let paths = values.strings(
        outputs.value, TaskKey.outputs, expected: "a list of paths")
      for path in paths ?? [] {
        task.written.append(TaskValues.WrittenFile(path: path, kind: .output))
      }
      values.reportUnsupported(outputs, "outputs")
    }
  }
}

extension ValueReader {
  func reportUnsupported(_ key: Node, _ name: StaticString) {
    mistakes.error(document.place(key), "`\(name)` is not supported yet")
  }
}
