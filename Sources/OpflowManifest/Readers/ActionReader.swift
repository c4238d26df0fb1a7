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
          ? "a task has either \(list) or \(last), and this one has both"
          : "a task has one of \(list) and \(last), and this one has all",
        help: "make two tasks, one of which needs the other")
    }
    guard actions.isEmpty, !TaskKey.actions.contains(where: { keys.isMeant($0) }) else { return }
    if let needs = keys[.needs], isName(needs, keys) { return beName(needs, &task) }
    error(
      task.key, "task `\(task.name.string)` has nothing to do",
      help: "give it `run` or `download`; one that is but a name for others has `needs` alone")
  }

  /// The task has no key about running.
  private func isName(_ needs: Node, _ keys: Fields<TaskKey>) -> Bool {
    if document.kind(needs) == .sequence {
      var items = document.children(needs)
      if items.next() == nil { return false }
    }
    return TaskKey.allCases.allSatisfy { keys.key($0) == nil || TaskKey.ofNames.contains($0) }
  }

  /// Such a task succeeds at once. It is up to date if all of its needs are.
  private func beName(_ needs: Node, _ task: inout TaskValues) {
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
      guard let words = commands.readWords(node, subject) else { return }
      task.kind = .command
      task.words = words
      commands.warnOfScript(words, subject)
    case .mapping:
      values.wrongType(
        node, subject, expected: "a string or a list of strings",
        help: "write the command itself: `run: make test`")
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
        other, "`\(key.name)` says nothing of a question (`approve`)",
        help: "nothing is run for it: take `\(key.name)` away")
    }
    if let codes = keys[.allowFailure], document.kind(codes) == .sequence {
      error(
        codes, "a question has no exit code that `allow_failure` could list",
        help: "write `allow_failure: true`, or take it away")
    }
    task.script = values.filledString(node, Subject(TaskKey.approve))
  }

  /// An external task has no process, so `defaults` about processes do not apply.
  private func readBlock(_ node: Node, _ keys: Fields<TaskKey>, into task: inout TaskValues) {
    task.kind = .block
    for key in TaskKey.notOfExternalTasks {
      guard let other = keys.key(key) else { continue }
      error(
        other, "`\(key.name)` says nothing of a block",
        help: "a program does it, as and where it likes: take `\(key.name)` away")
    }
    guard values.boolean(node, Subject(TaskKey.block)) == false else { return }
    error(
      node, "`block` is `true` where it stands",
      help: "a task that is none has `run` or `download` in its place")
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
        node, "opflow does not know how `\(name.text.string)` takes a script",
        help: "write all words before the script, such as [python3, -c]")
    }
    return Self.scalars(words, node, scratch)
  }

  static func scalars(_ words: [String], _ node: Node, _ store: TextStore) -> [Scalar] {
    words.map { word in
      let text = store.copy(word)
      return Scalar(node: node, text: text, stable: text, isTyped: false)
    }
  }

  /// Any scalar is text: `1` in `[sleep, 1]`.
  func readWords(_ node: Node, _ subject: Subject) -> [Scalar]? {
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
        first.node, "the first word of \(subject.description) \(values.emptiness(first.node))")
    }
    if !values.hasExpression(first.node), first.text.contains(where: ASCII.isBlank) {
      return error(
        first.node,
        "the first item of \(subject.description) is the program's name, and this one holds a "
          + "blank", help: "a list is one command: use `run: |` for several lines")
    }
    return words
  }

  func warnOfScript(_ words: [Scalar], _ subject: Subject) {
    guard let first = words.first, words.count > 1 else { return }
    for word in words.dropFirst() where !values.hasExpression(word.node) {
      let text = word.text
      if Self.isOperator(text), !Self.takesOperators(first.text) {
        warning(
          word.node,
          "an item of \(subject.description) is `\(text.string)`, and no shell reads a list",
          help: "write all of it as a text: `run: make && make test`")
      } else if text.count > first.text.count, text[first.text.count] == 32,
        text.part(0..<first.text.count).isSame(as: first.text)
      {
        warning(
          word.node,
          "an item of \(subject.description) looks like a command of its own, and a list is one "
            + "command", help: "write `run: |`, and below it each command on a line of its own")
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
