/// Reads commands, scripts and shells.
struct CommandReader {
  let values: ValueReader

  /// Reads a script. Unquoted `true` and `false` are commands here.
  func readScript(_ node: Node, _ subject: Subject) -> Scalar? {
    if let scalar = values.scalarIfBoolean(node, subject) { return scalar }
    return values.filledString(node, subject, help: "write the command: `run: make test`")
  }

  /// Reads the command line before a script.
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

  /// Makes scalars of strings that are not in the manifest.
  static func scalars(_ words: [String], _ node: Node, _ store: TextStore) -> [Scalar] {
    words.map { word in
      let text = store.copy(word)
      return Scalar(node: node, text: text, stable: text, isTyped: false)
    }
  }

  /// Reads the arguments of a command. Any scalar counts as text: `1` in `[sleep, 1]`.
  func readWords(_ node: Node, _ subject: Subject) -> [Scalar]? {
    guard case .key(let name) = subject else { return nil }
    var words: [Scalar] = []
    for item in values.document.children(node) {
      guard let word = values.scalar(item, .item(name), expected: "a string") else { return nil }
      words.append(word)
    }
    guard let first = words.first else {
      values.mistakes.error(
        values.document.place(node), "\(subject.description) is empty",
        help: "write the program and its arguments: [make, test]")
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
        "the first item of \(subject.description) is the program's name, and this one holds a "
          + "blank",
        help: "a list is one command: use `run: |` for several lines")
      return nil
    }
    return words
  }

  /// Warns about shell syntax in a list.
  func warnOfScript(_ words: [Scalar], _ subject: Subject) {
    guard let first = words.first, words.count > 1 else { return }
    for word in words.dropFirst() where !values.hasExpression(word.node) {
      let text = word.text
      if Self.isOperator(text), !Self.takesOperators(first.text) {
        values.mistakes.warning(
          values.document.place(word.node),
          "an item of \(subject.description) is `\(text.string)`, and no shell reads a list",
          help: "write all of it as a text: `run: make && make test`")
      } else if text.count > first.text.count, text[first.text.count] == 32,
        text.part(0..<first.text.count).isSame(as: first.text)
      {
        values.mistakes.warning(
          values.document.place(word.node),
          "an item of \(subject.description) looks like a command of its own, and a list is one "
            + "command",
          help: "write `run: |`, and below it each command on a line of its own")
      } else if let found = ShellText(in: text),
        text.first == UInt8(ascii: "~") || found.text.count == text.count
      {
        guard case .key(let name) = subject else { continue }
        values.warnOfShellText(word, word.node, .item(name))
      }
    }
  }

  private static func isOperator(_ text: Text) -> Bool {
    text == "|" || text == "&&" || text == "||" || text == ">" || text == ">>" || text == "2>&1"
  }

  /// Whether operators are arguments of the program.
  private static func takesOperators(_ program: Text) -> Bool {
    program == "expr" || program == "test" || program == "["
  }
}
