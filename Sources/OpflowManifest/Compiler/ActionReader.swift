internal import OpflowCore

// What a task does: `run` or `download`.

extension ManifestReader {
  /// Reads the task's one action, and adds it to the fingerprint.
  mutating func readAction(
    _ fields: Fields<TaskKey>, key: Node, in directory: Directory, into task: inout TaskEntry
  ) {
    if let run = fields.key(.run), let download = fields.key(.download) {
      let second = document.place(run) < document.place(download) ? download : run
      mistakes.error(
        document.place(second), "a task has either `run` or `download`, and this one has both",
        help: "make two tasks, one of which needs the other")
    }
    if let node = fields[.run] { readRun(node, into: &task) }
    if let download = fields.key(.download) {
      task.kind = .download
      if let read = readDownload(Node(download.record + 1), in: directory) {
        add(read, in: directory, to: &task)
      }
    }
    if fields.key(.run) == nil, fields.key(.download) == nil, !fields.isMeant(.run),
      !fields.isMeant(.download)
    {
      mistakes.error(
        document.place(key), "task `\(document.text(key).string)` has nothing to do",
        help: "give it `run` or `download`")
    }
  }

  private mutating func readRun(_ node: Node, into task: inout TaskEntry) {
    let subject = Subject(TaskKey.run)
    switch document.kind(node) {
    case .scalar:
      guard let script = readScript(node, subject) else { return }
      task.kind = .shell
      task.script = builder.append(script.text)
      hasher.add(UInt64(ActionKind.shell.rawValue))
      hasher.add(script.stable)
    case .sequence:
      guard let words = readWords(node, subject) else { return }
      task.kind = .command
      task.words = builder.list(words.map { builder.intern($0.text) })
      hasher.add(UInt64(ActionKind.command.rawValue))
      for word in words { hasher.add(word.stable) }
    case .mapping: values.wrongType(node, subject, expected: "a string or a list of strings")
    }
  }

  /// A script. `true` and `false` without quotes are booleans to YAML and commands to everyone else.
  private mutating func readScript(_ node: Node, _ subject: Subject) -> Scalar? {
    if let scalar = values.scalarIfBoolean(node, subject) { return scalar }
    return values.filledString(node, subject)
  }

  // MARK: What is read in full and not done yet

  mutating func readMatrix(_ key: Node) {
    reportUnsupported(key, "matrix")
    guard let entries = mapEntries(Node(key.record + 1), Subject(TaskKey.matrix)) else { return }
    if entries.count == 0 {
      mistakes.error(document.place(Node(key.record + 1)), "`matrix` is empty")
    }
    for index in 0..<entries.count {
      let name = entries.name(index)
      scope.matrixNames.append(name)
      if !VariableName.isExpressionName(name) {
        mistakes.error(
          document.place(entries.keys[index]), "`\(name.string)` is no name in a `matrix`",
          help: "a name is letters, digits, `_` and `-`, and begins with a letter or `_`")
      }
      let subject = Subject.entry("matrix", name)
      guard let items = values.items(entries.value(index), subject, expected: "a list") else {
        continue
      }
      if items.isEmpty {
        mistakes.error(document.place(entries.value(index)), "\(subject.description) is empty")
      }
      for item in items {
        _ = values.scalar(item, subject, expected: "a list of strings, numbers or booleans")
      }
    }
  }

  mutating func readFiles(_ fields: Fields<TaskKey>, in directory: Directory) {
    if let inputs = fields.key(.inputs) {
      _ = values.strings(Node(inputs.record + 1), TaskKey.inputs, expected: "a list of paths")
      reportUnsupported(inputs, "inputs")
    }
    if let outputs = fields.key(.outputs) {
      let paths = values.strings(
        Node(outputs.record + 1), TaskKey.outputs, expected: "a list of paths")
      for path in paths ?? [] { noteWritten(path, in: directory, .output) }
      reportUnsupported(outputs, "outputs")
    }
  }

  mutating func readSecrets(_ key: Node) {
    let names = values.strings(
      Node(key.record + 1), TaskKey.secrets, expected: "a list of names of environment variables")
    for name in names ?? [] where !VariableName.isEnvironment(name.text) {
      mistakes.error(
        document.place(name.node), "`\(name.text.string)` is no name of an environment variable")
    }
    reportUnsupported(key, "secrets")
  }
}
