internal import OpflowCore

/// Reads `run`, `download`, `approve` or `block`.
struct ActionReader {
  let values: ValueReader
  private let commands: CommandReader
  private let downloads: DownloadReader
  private let mayHoldForeign: Bool

  init(_ values: ValueReader) {
    self.values = values
    commands = CommandReader(values: values)
    downloads = DownloadReader(values: values)
    mayHoldForeign = ForeignScript.mayStand(
      in: values.document.source, marks: values.document.marks)
  }

  func read(_ keys: Fields<TaskKey>, into task: inout TaskValues) {
    if let node = keys[.run] { readRun(node, into: &task) }
    if let node = keys[.download] {
      task.kind = .download
      downloads.read(node, into: &task)
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
      let places = actions.compactMap { keys.key($0).map { values.document.place($0) } }
      let names = actions.map { "`\($0.name)`" }
      let last = names[names.count - 1]
      let list = names.dropLast().joined(separator: ", ")
      values.mistakes.error(
        places.max() ?? values.document.place(task.key),
        actions.count == 2
          ? "a task has either \(list) or \(last), and this one has both"
          : "a task has one of \(list) and \(last), and this one has all",
        help: "make two tasks, one of which needs the other")
    }
    guard actions.isEmpty, !TaskKey.actions.contains(where: { keys.isMeant($0) }) else { return }
    if let needs = keys[.needs], isName(needs, keys) { return beName(needs, &task) }
    values.mistakes.error(
      values.document.place(task.key), "task `\(task.name.string)` has nothing to do",
      help: "give it `run` or `download`; one that is but a name for others has `needs` alone")
  }

  /// Whether a task only groups its needs, without a key about running.
  private func isName(_ needs: Node, _ keys: Fields<TaskKey>) -> Bool {
    if values.document.kind(needs) == .sequence {
      var items = values.document.children(needs)
      if items.next() == nil { return false }
    }
    return TaskKey.allCases.allSatisfy { keys.key($0) == nil || TaskKey.ofNames.contains($0) }
  }

  /// Makes such a task succeed at once. It is up to date if all of its needs are.
  private func beName(_ needs: Node, _ task: inout TaskValues) {
    task.kind = .command
    task.words = CommandReader.scalars(Plan.commandOfNames, needs, values.scratch)
    task.hasInputs = !task.flags.contains(.finally)
  }

  private func readRun(_ node: Node, into task: inout TaskValues) {
    let subject = Subject(TaskKey.run)
    switch values.document.kind(node) {
    case .scalar:
      values.scope.valuePlace = .script
      defer { values.scope.valuePlace = .none }
      guard let script = commands.readScript(node, subject) else { return }
      task.kind = .shell
      task.script = script
      if mayHoldForeign { warnOfForeign(node) }
    case .sequence:
      values.scope.valuePlace = .late
      defer { values.scope.valuePlace = .none }
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
    guard let found = ForeignScript(in: values.document.text(node), of: values.scope) else {
      return
    }
    values.mistakes.warning(values.document.place(node), found.message, help: found.help)
  }

  /// Reads an approval. It runs nothing, so `defaults` about running do not apply.
  private func readQuestion(
    _ node: Node, _ keys: Fields<TaskKey>, into task: inout TaskValues
  ) {
    task.kind = .approve
    if keys[.timeout] == nil { task.settings.policy.timeoutMilliseconds = 0 }
    task.settings.policy.retryMax = 0
    task.settings.retryCodes = []
    task.own.insert(.policy)
    task.flags.remove(.failWhenInterrupted)
    for key in TaskKey.notOfGates {
      guard let other = keys.key(key) else { continue }
      values.mistakes.error(
        values.document.place(other), "`\(key.name)` says nothing of a question (`approve`)",
        help: "nothing is run for it: take `\(key.name)` away")
    }
    if let codes = keys[.allowFailure], values.document.kind(codes) == .sequence {
      values.mistakes.error(
        values.document.place(codes), "a question has no exit code that `allow_failure` could list",
        help: "write `allow_failure: true`, or take it away")
    }
    task.script = values.filledString(node, Subject(TaskKey.approve))
  }

  /// Reads an external task. It has no process, so `defaults` about processes do not apply.
  private func readBlock(
    _ node: Node, _ keys: Fields<TaskKey>, into task: inout TaskValues
  ) {
    task.kind = .block
    for key in TaskKey.notOfBlocks {
      guard let other = keys.key(key) else { continue }
      values.mistakes.error(
        values.document.place(other), "`\(key.name)` says nothing of a block",
        help: "a program does it, as and where it likes: take `\(key.name)` away")
    }
    guard values.boolean(node, Subject(TaskKey.block)) == false else { return }
    values.mistakes.error(
      values.document.place(node), "`block` is `true` where it stands",
      help: "a task that is none has `run` or `download` in its place")
  }
}
