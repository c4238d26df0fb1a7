/// Reads commands: the words of a list, a script, a shell.
struct CommandReader {
  let values: ValueReader

  /// A script. `true` and `false` without quotes are booleans to YAML and commands to everyone else.
  func readScript(_ node: Node, _ subject: Subject) -> Scalar? {
    if let scalar = values.scalarIfBoolean(node, subject) { return scalar }
    return values.filledString(node, subject)
  }

  /// The words before a script.
  func readShell(_ node: Node) -> [Scalar]? {
    let subject = Subject(TaskKey.shell)
    switch values.document.kind(node) {
    case .sequence: return readWords(node, subject)
    case .mapping:
      values.wrongType(node, subject, expected: "a string or a list of strings")
      return nil
    case .scalar: break
    }
    guard let name = values.filledString(node, subject) else { return nil }
    guard let words = ShellName.words(name.text.string) else {
      values.mistakes.error(
        values.document.place(node),
        "opflow does not know how `\(name.text.string)` takes a script",
        help: "write all words before the script, such as [python3, -c]")
      return nil
    }
    return Self.scalars(words, node, values.scratch)
  }

  /// Words that no file holds.
  static func scalars(_ words: [String], _ node: Node, _ store: TextStore) -> [Scalar] {
    words.map { word in
      let text = store.copy(word)
      return Scalar(node: node, text: text, stable: text, isTyped: false)
    }
  }

  /// The words of a command. Their text is what is written: `[sleep, 1]` means the text `1`.
  func readWords(_ node: Node, _ subject: Subject) -> [Scalar]? {
    guard case .key(let name) = subject else { return nil }
    var words: [Scalar] = []
    for item in values.document.children(node) {
      guard let word = values.scalar(item, .item(name), expected: "a string") else { return nil }
      words.append(word)
    }
    guard let first = words.first else {
      values.mistakes.error(values.document.place(node), "\(subject.description) is empty")
      return nil
    }
    if first.text.isEmpty {
      values.mistakes.error(
        values.document.place(first.node),
        "the first word of \(subject.description) \(values.emptiness(first.node))")
      return nil
    }
    if !values.hasExpression(first.node), first.text.contains(where: ASCII.isBlank) {
      values.mistakes.error(
        values.document.place(first.node),
        "the first item of \(subject.description) is the program's name, and this one holds a blank",
        help: "a list is one command: use `run: |` for several lines")
      return nil
    }
    return words
  }
}
