internal import OpflowPlan

struct ActionReader: NodeReader {
  let values: ValueReader
  private let mayHoldForeign: Bool

  init(_ values: ValueReader) {
    self.values = values
    mayHoldForeign = ForeignScript.mayStand(
      in: values.document.source, marks: values.document.marks)
  }

  func read(_ keys: Fields<TaskKey>, into task: inout TaskValues) {
    if let node = keys[.run] { readRun(node, into: &task) }
    if let node = keys[.download] {
      task.kind = .download
      DownloadReader(values: values).read(node, into: &task)
    }
    if let node = keys[.approve] { readQuestion(node, keys, into: &task) }
    if let node = keys[.block] { readBlock(node, keys, into: &task) }
    let others: [TaskKey] = [.download, .approve, .block]
    if keys.key(.run) != nil, others.allSatisfy({ keys.key($0) == nil }) { return }
    expectOne(keys, &task)
  }

  private func expectOne(_ keys: Fields<TaskKey>, _ task: inout TaskValues) {
    let actions = TaskKey.actions.filter { keys.key($0) != nil }
    if actions.count > 1 {
      let places = actions.compactMap { keys.key($0).map { document.place($0) } }
      let names = actions.map { "`\($0.name)`" }
      let last = names[names.count - 1]
      let list = names.dropLast().joined(separator: ", ")
      diagnostics.error(
        places.max() ?? document.place(task.key),
        actions.count == 2
          ? "a task cannot have both \(list) and \(last)"
          : "a task can have only one of \(list) and \(last)",
        help: "make a task of each, and let one of them need the other")
    }
    guard actions.isEmpty, !TaskKey.actions.contains(where: { keys.isMeant($0) }) else { return }
    if let needs = keys[.needs], isAlias(needs, keys) { return beAlias(needs, &task) }
    error(
      task.key, "task `\(task.name.string)` has nothing to do",
      help: "add `run` or `download`; an alias of other tasks has only `needs`")
  }

  /// The task has no key about running.
  private func isAlias(_ needs: Node, _ keys: Fields<TaskKey>) -> Bool {
    if document.kind(needs) == .sequence {
      var items = document.children(needs)
      if items.next() == nil { return false }
    }
    return TaskKey.allCases.allSatisfy { keys.key($0) == nil || TaskKey.ofNames.contains($0) }
  }

  /// Such a task succeeds at once. It is up to date if all of its needs are.
  private func beAlias(_ needs: Node, _ task: inout TaskValues) {
    task.kind = .command
    task.words = CommandReader.scalars(Plan.commandOfNames, needs, scratch)
    task.hasInputs = !task.flags.contains(.finally)
  }

  private func readRun(_ node: Node, into task: inout TaskValues) {
    let subject = Subject(TaskKey.run)
    switch document.kind(node) {
    case .scalar:
      scope.valuePlace = .script
      defer { scope.valuePlace = .none }
      guard let script = commands.readScript(node, subject) else { return }
      task.kind = .shell
      task.script = script
      if mayHoldForeign { warnOfForeign(node) }
    case .sequence:
      scope.valuePlace = .late
      defer { scope.valuePlace = .none }
      guard let words = commands.readCommand(node, subject) else { return }
      task.kind = .command
      task.words = words
      commands.warnOfScript(words, subject)
    case .mapping:
      values.wrongType(
        node, subject, expected: "a string or a list of strings",
        help: "write the command as a string: `run: make test`")
    }
  }

  private func warnOfForeign(_ node: Node) {
    guard let found = ForeignScript(in: document.text(node), of: scope) else {
      return
    }
    warning(node, found.message, help: found.help)
  }

  /// An approval runs nothing, so `defaults` about running do not apply.
  private func readQuestion(_ node: Node, _ keys: Fields<TaskKey>, into task: inout TaskValues) {
    task.kind = .approve
    if keys[.timeout] == nil { task.settings.policy.timeoutMilliseconds = 0 }
    task.settings.policy.retryMax = 0
    task.settings.retryCodes = []
    task.own.insert(.policy)
    task.flags.remove(.failWhenInterrupted)
    for key in TaskKey.notOfApprovals {
      guard let other = keys.key(key) else { continue }
      error(
        other, "an approval (`approve`) cannot have `\(key.name)`",
        help: "opflow runs no command for it; remove `\(key.name)`")
    }
    if let codes = keys[.allowFailure], document.kind(codes) == .sequence {
      error(
        codes, "an approval (`approve`) has no exit codes for `allow_failure`",
        help: "write `allow_failure: true`, or remove `allow_failure`")
    }
    task.script = values.filledString(node, Subject(TaskKey.approve))
  }

  /// An external task has no process, so `defaults` about processes do not apply.
  private func readBlock(_ node: Node, _ keys: Fields<TaskKey>, into task: inout TaskValues) {
    task.kind = .block
    for key in TaskKey.notOfExternalTasks {
      guard let other = keys.key(key) else { continue }
      error(
        other, "an external task (`block`) cannot have `\(key.name)`",
        help: "a client does its work, and opflow starts no process for it; "
          + "remove `\(key.name)`")
    }
    guard values.boolean(node, Subject(TaskKey.block)) == false else { return }
    error(
      node, "`block` must be `true`",
      help: "remove it, and add `run` or `download` instead")
  }
}

extension NodeReader {
  var commands: CommandReader { CommandReader(values: values) }
}

struct CommandReader: NodeReader {
  let values: ValueReader

  /// Unquoted `true` and `false` are commands here.
  func readScript(_ node: Node, _ subject: Subject) -> Scalar? {
    if let scalar = values.scalarIfBoolean(node, subject) { return scalar }
    return values.filledString(node, subject, help: "write the command: `run: make test`")
  }

  /// Reads the command line before a script.
  func readShell(_ node: Node) -> [Scalar]? {
    let subject = Subject(TaskKey.shell)
    switch document.kind(node) {
    case .sequence: return readWords(node, subject)
    case .mapping: return values.wrongType(node, subject, expected: "a string or a list of strings")
    case .scalar: break
    }
    guard let name = values.filledString(node, subject) else { return nil }
    guard let words = ShellName.words(name.text.string) else {
      return error(
        node, "opflow does not know how to pass a script to `\(name.text.string)`",
        help: "write its command line without the script as a list, such as [python3, -c]")
    }
    return Self.scalars(words, node, scratch)
  }

  static func scalars(_ words: [String], _ node: Node, _ store: TextStore) -> [Scalar] {
    words.map { word in
      let text = store.copy(word)
      return Scalar(node: node, text: text, stable: text, isTyped: false)
    }
  }

  /// Reads the list under a task's `run`. An item with a space must be quoted, because lists of
  /// commands are common in other tools.
  func readCommand(_ node: Node, _ subject: Subject) -> [Scalar]? {
    guard case .key(let name) = subject,
      let words = readWords(node, subject, help: Self.helpForCommands)
    else { return nil }
    for word in words where document.isPlain(word.node) && hasBlank(word) {
      return error(
        word.node,
        "\(Subject.item(name).description) must be one word, not "
          + "`\(ValueReader.excerpt(document.text(word.node)))`", help: Self.helpForCommands)
    }
    return words
  }

  private static let helpForCommands =
    "a list is one command; for several, write a block scalar, `run: |`, or join them with `&&`: "
    + "`run: make && make install`; put an argument with spaces in quotes"

  /// True if the manifest has a space in the item, outside of expressions.
  private func hasBlank(_ word: Scalar) -> Bool {
    if !values.hasExpression(word.node) { return word.text.contains(where: ASCII.isBlank) }
    let text = document.text(word.node)
    var position = 0
    while position < text.count {
      let start = ExpressionTemplate.firstExpression(text, from: position)
      if text.part(position..<start).contains(where: ASCII.isBlank) { return true }
      // `$${{` is literal.
      let isLiteral = start > position && text[start - 1] == UInt8(ascii: "$")
      position = isLiteral ? start + 3 : Self.end(ofExpression: start, in: text)
    }
    return false
  }

  private static func end(ofExpression start: Int, in text: ByteView) -> Int {
    var position = start
    var quote: UInt8?
    while position < text.count {
      let byte = text[position]
      if let open = quote {
        if byte == open { quote = nil }
      } else if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
        quote = byte
      } else if byte == UInt8(ascii: "}"), position + 1 < text.count, text[position + 1] == byte {
        return position + 2
      }
      position += 1
    }
    return text.count
  }

  /// Any scalar is text: `1` in `[sleep, 1]`.
  ///
  /// - Parameter help: Advice for a first item with spaces.
  func readWords(_ node: Node, _ subject: Subject, help: String? = nil) -> [Scalar]? {
    guard case .key(let name) = subject else { return nil }
    var words: [Scalar] = []
    for item in document.children(node) {
      guard let word = values.scalar(item, .item(name), expected: "a string") else { return nil }
      words.append(word)
    }
    guard let first = words.first else {
      return error(
        node, "\(subject.description) is empty",
        help: "write the program and its arguments: [make, test]")
    }
    if first.text.isEmpty {
      return error(
        first.node, "the first item of \(subject.description) \(values.emptiness(first.node))",
        help: "write the name of a program")
    }
    if !values.hasExpression(first.node), first.text.contains(where: ASCII.isBlank) {
      return error(
        first.node,
        "the first item of \(subject.description) must be the name of a program, not "
          + "`\(ValueReader.excerpt(first.text))`", help: help ?? Self.helpForWords(first.text))
    }
    return words
  }

  private static func helpForWords(_ text: ByteView) -> String {
    let isSimple = text.allSatisfy { byte in
      ASCII.isBlank(byte) || ASCII.continuesName(byte) || byte == UInt8(ascii: ".")
        || byte == UInt8(ascii: "/")
    }
    guard isSimple, text.count <= 80 else { return "write each word as an item of its own" }
    let words = text.split { ASCII.isBlank($0) }.map { ByteView(rebasing: $0).string }
    return "write each word as an item of its own: \(words.joined(separator: ", "))"
  }

  func warnOfScript(_ words: [Scalar], _ subject: Subject) {
    guard let first = words.first, words.count > 1 else { return }
    for word in words.dropFirst() where !values.hasExpression(word.node) {
      let text = word.text
      if Self.isOperator(text), !Self.takesOperators(first.text) {
        warning(
          word.node,
          "`\(ValueReader.excerpt(first.text))` gets `\(text.string)` as an argument, because no "
            + "shell reads a list",
          help: "write the whole command as a string: `run: make && make test`")
      } else if text.count > first.text.count, text[first.text.count] == 32,
        text.part(0..<first.text.count).isSame(as: first.text)
      {
        warning(
          word.node,
          "an item of \(subject.description) looks like a second command, but a list is one "
            + "command", help: "write `run: |`, and each command on a line of its own below it")
      } else if let found = ShellText(in: text),
        text.first == UInt8(ascii: "~") || found.text.count == text.count
      {
        guard case .key(let name) = subject else { continue }
        values.warnOfShellText(word, word.node, .item(name))
      }
    }
  }

  private static func isOperator(_ text: ByteView) -> Bool {
    text == "|" || text == "&&" || text == "||" || text == ">" || text == ">>" || text == "2>&1"
  }

  private static func takesOperators(_ program: ByteView) -> Bool {
    program == "expr" || program == "test" || program == "["
  }
}

enum ShellName {
  /// The command line before the script; nil for unknown shells. Scripts stop at the first failure
  /// (`-e`), also within a pipeline where `pipefail` exists.
  static func words(_ shell: String) -> [String]? {
    let name = shell.split(separator: "/").last.map(String.init) ?? shell
    switch name {
    case "bash", "zsh", "ksh", "ksh93", "mksh": return [shell, "-eo", "pipefail", "-c"]
    case "sh", "dash", "ash", "yash", "posh": return [shell, "-ec"]
    default: return nil
    }
  }

  static let standard = ["/bin/sh", "-ec"]
}
