/// Reads keys of tasks that nothing is done with yet, in full: what is wrong with them is said besides.
struct LaterKeyReader {
  let values: ValueReader

  func read(_ keys: Fields<TaskKey>, into task: inout TaskValues) {
    readFiles(keys, into: &task)
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
