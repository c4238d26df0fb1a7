internal import OpflowBase
internal import OpflowPlan

struct FlagReader: NodeReader {
  let values: ValueReader

  func read(_ keys: Fields<TaskKey>, into task: inout TaskValues) {
    if isTrue(keys, .finally) { task.flags.insert(.finally) }
    if let node = keys[.manual], isTrue(keys, .manual) { readManual(node, into: &task) }
    if let node = keys[.interactive], isTrue(keys, .interactive) {
      readInteractive(node, keys, into: &task)
    }
    if let node = keys[.control], isTrue(keys, .control) { readControl(node, keys, into: &task) }
    if let node = keys[.condition] { readCondition(node, into: &task) }
    if let node = keys[.allowFailure] { readAllowFailure(node, into: &task) }
    for (key, text) in TaskKey.ofTexts {
      if let node = keys[key] { readTexts(node, key, as: text, into: &task.texts) }
    }
  }

  /// `SecretReader` reads names of secrets.
  private func readTexts(
    _ node: Node, _ key: TaskKey, as text: TaskText, into texts: inout TaskValues.TextValues
  ) {
    switch text.takes {
    case .text:
      if let value = values.string(node, Subject(key))?.text, !value.isEmpty {
        texts.add(value, as: text)
      }
    case .tags: for tag in readTags(node) ?? [] { texts.add(tag.text, as: text) }
    case .names: break
    }
  }

  /// Must be called after `finally` is read.
  @inline(never)
  private func readManual(_ node: Node, into task: inout TaskValues) {
    guard task.flags.contains(.finally) else {
      task.flags.insert(.manual)
      return
    }
    error(
      node, "a `finally` task cannot be `manual`",
      help: "it runs at the end of every run; remove one of the two")
  }

  @inline(never)
  private func readInteractive(_ node: Node, _ keys: Fields<TaskKey>, into task: inout TaskValues) {
    if keys[.download] != nil {
      return error(
        node, "a download cannot be `interactive`",
        help: "it runs no program that could read from a terminal; remove `interactive`")
    }
    task.flags.insert(.interactive)
    let name = task.name.string
    guard scope.tasksWithoutTerminal.contains(name) else { return }
    error(
      node, "task `\(name)` is `interactive`, but opflow has no terminal",
      help: "start opflow in a terminal, or skip the task: `--skip \(QuotedWords.quoted(name))`")
  }

  @inline(never)
  private func readControl(_ node: Node, _ keys: Fields<TaskKey>, into task: inout TaskValues) {
    guard keys[.download] != nil else {
      task.flags.insert(.control)
      return
    }
    error(
      node, "a download cannot have `control`",
      help: "it runs no program that could control the run; remove `control`")
  }

  @inline(never)
  private func readTags(_ node: Node) -> [Scalar]? {
    guard document.kind(node) == .scalar, values.describe(node) != "empty" else {
      return values.strings(node, TaskKey.tags, expected: "a list of strings")
    }
    guard let tag = values.filledString(node, Subject(TaskKey.tags)) else { return nil }
    if tag.text.contains(where: { ASCII.isBlank($0) || $0 == UInt8(ascii: ",") }) {
      return error(
        node, "a tag cannot contain a space or a comma",
        help: "write several tags as a list: [fast, slow]")
    }
    return [tag]
  }

  private enum Condition {
    case known(Bool)
    /// The part that is evaluated when all needs have ended.
    case late(ByteView)
  }

  @inline(never)
  private func readCondition(_ node: Node, into task: inout TaskValues) {
    switch condition(node) {
    case .known(false):
      task.flags.insert(.conditionFalse)
      if Self.isLiteralFalse(document.text(node)) { task.literalFalse = node }
    case .late(let text):
      task.flags.insert(.lateCondition)
      task.lateCondition = text
    case .known(true), nil: break
    }
  }

  /// True for `false` and `${{ false }}`, whose value is the same in every run.
  private static func isLiteralFalse(_ condition: ByteView) -> Bool {
    var text = condition.trimmed
    if text.hasPrefix("${{"), text.hasSuffix("}}"), text.count > 5 {
      text = text.part(3..<(text.count - 2)).trimmed
    }
    return text == "false"
  }

  private func condition(_ node: Node) -> Condition? {
    let subject = Subject(TaskKey.condition)
    guard document.kind(node) == .scalar else {
      return values.wrongType(node, subject, expected: "an expression")
    }
    let text = document.text(node)
    if text.trimmed.isEmpty || (document.isPlain(node) && CoreSchema.type(of: text) == .null) {
      return error(node, "`if` is empty", help: "write an expression, such as env.CI == 'true'")
    }
    scope.valuePlace = .late
    defer { scope.valuePlace = .none }
    var isWrong = false
    let names = ScopedNames(scope: scope) {
      isWrong = true
      values.report($0, in: node)
    }
    do {
      let value = try ExpressionTemplate.evaluateWhole(text, names: names, literals: scope.literals)
      guard values.takeValuesRead(node), !isWrong else {
        return .known(ExpressionParser<ScopedNames>.isTrue(value))
      }
      defer { scope.valuesRead.removeAll(keepingCapacity: true) }
      return .late(
        LateText.residueOfWhole(
          text, names: ScopedNames(scope: scope, report: { _ in }), store: scratch))
    } catch {
      values.report(error, in: node)
      return nil
    }
  }

  @inline(never)
  private func readAllowFailure(_ node: Node, into task: inout TaskValues) {
    let subject = Subject(TaskKey.allowFailure)
    switch document.kind(node) {
    case .sequence:
      if let codes = values.exitCodes(node, subject, items: TaskKey.allowFailure.name) {
        task.allowedCodes = codes
      }
    case .scalar:
      let isCode = CoreSchema.integer(document.text(node)) != nil
      if values.boolean(
        node, subject, expected: "true, false or a list of exit codes",
        help: isCode ? values.listHelp(node, ofNumbers: true) : nil) == true
      {
        task.flags.insert(.allowAnyFailure)
      }
    case .mapping: values.wrongType(node, subject, expected: "true, false or a list of exit codes")
    }
  }
}

struct ProcessReader: NodeReader {
  let values: ValueReader

  /// Must be called after the task's action and demands are read.
  func read(_ keys: Fields<TaskKey>, _ defaults: Demands, into task: inout TaskValues) {
    for (name, rule) in TaskKey.ofProcesses {
      guard let key = keys.key(name), let number = readNumber(key.value, name, rule),
        !rule.isOfPrograms || hasPrograms(task, key, name)
      else { continue }
      if rule == .jobserver, !hasProcessor(task, defaults, key) { continue }
      if rule == .clean, !declaresFiles(task, key) { continue }
      task.processes[rule] = number
    }
  }

  private func readNumber(_ node: Node, _ key: TaskKey, _ rule: ProcessRule) -> UInt64? {
    switch rule.takes {
    case .flag: values.boolean(node, Subject(key)) == true ? 1 : nil
    case .bytes: values.size(node, Subject(key))
    case .number(let range): values.integer(node, Subject(key), in: range).map { UInt64($0) }
    case .style: readStyle(node, key).map { UInt64($0.rawValue) }
    }
  }

  private func readStyle(_ node: Node, _ key: TaskKey) -> JobserverStyle? {
    let expected: StaticString = "true, false, fifo or pipe"
    if document.kind(node) == .scalar {
      let text = document.text(node)
      if text == "fifo" { return .fifo }
      if text == "pipe" { return .pipe }
    }
    return values.boolean(node, Subject(key), expected: expected) == true ? .ofMake : nil
  }

  /// Errors for approvals and external tasks are already reported.
  private func hasPrograms(_ task: borrowing TaskValues, _ key: Node, _ name: TaskKey) -> Bool {
    switch task.kind {
    case .shell, .command: return true
    case .approve, .block: return false
    case .download:
      error(
        key, "a download cannot have `\(name.name)`",
        help: "opflow runs no program for it; remove `\(name.name)`")
      return false
    }
  }

  private func declaresFiles(_ task: borrowing TaskValues, _ key: Node) -> Bool {
    // The error is already reported.
    if task.flags.contains(.service) { return false }
    if task.hasInputs, !task.written.isEmpty { return true }
    error(
      key, "`clean` needs `inputs` and `outputs`",
      help: "opflow removes the files that it recorded under `outputs` when the task ended, and it "
        + "records them only for a task with `inputs`")
    return false
  }

  private func hasProcessor(_ task: borrowing TaskValues, _ defaults: Demands, _ key: Node) -> Bool
  {
    // The error is already reported.
    if task.flags.contains(.service) { return false }
    let demands = task.own.contains(.demands) ? task.lists.demands : defaults
    if demands.resolved(for: task.kind).contains(where: { $0.resource == ResourceEntry.cpu }) {
      return true
    }
    error(
      key, "a task with `jobserver` needs at least 1 `cpu`",
      help: "its first job uses it; remove `cpu: 0`")
    return false
  }
}
