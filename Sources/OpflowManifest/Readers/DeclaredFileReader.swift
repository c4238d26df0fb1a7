internal import OpflowPlan

struct DeclaredFileReader: NodeReader {
  let values: ValueReader

  /// Must be called after the task's action is read.
  func read(_ keys: Fields<TaskKey>, into task: inout TaskValues) {
    if let key = keys.key(.inputs) { readInputs(key, into: &task) }
    if let key = keys.key(.outputs) { readOutputs(key, into: &task) }
    if let key = keys.key(.cache) { readCache(key, into: &task) }
  }

  /// Must be called after the task's inputs and secrets are read.
  private func readCache(_ key: Node, into task: inout TaskValues) {
    let place = document.place(key)
    switch task.kind {
    case .approve, .block: return
    case .download:
      return diagnostics.error(
        place, "a download cannot have `cache`",
        help: "remove it; with `sha256`, opflow does not fetch a file that is already there")
    case .shell, .command: break
    }
    guard let mayHoldSecrets = readCacheValue(key.value) else { return }
    if !task.hasInputs {
      return diagnostics.error(
        place, "`cache` needs `inputs`",
        help: "list the files that the task reads, such as `inputs: [\"src/*.c\"]`")
    }
    if task.flags.contains(.interactive) {
      return diagnostics.error(
        place, "an `interactive` task cannot have `cache`",
        help: "opflow does not know the text that you type, so it cannot compare it; "
          + "remove one of the two")
    }
    if task.flags.contains(.control) {
      return diagnostics.error(
        place, "a task with `control` cannot have `cache`",
        help: "opflow cannot cache what the task does to its run; remove one of the two")
    }
    if !task.texts[.secrets].isEmpty, !mayHoldSecrets {
      return diagnostics.error(
        place, "a task with `secrets` needs `cache: { secrets: true }`",
        help: "its results may contain the secrets, and everyone who can read the cache gets them;"
          + " if that is not right, remove `cache`")
    }
    task.flags.insert(.cached)
  }

  /// True if results may contain secrets; nil without a cache.
  private func readCacheValue(_ node: Node) -> Bool? {
    guard document.kind(node) == .mapping else {
      return values.boolean(node, Subject(TaskKey.cache)) == true ? false : nil
    }
    let fields = maps.fields(node, tables.cache)
    return fields[.secrets].flatMap { values.boolean($0, Subject(CacheKey.secrets)) } ?? false
  }

  private func readInputs(_ key: Node, into task: inout TaskValues) {
    switch task.kind {
    case .approve, .block: return
    case .download:
      return error(
        key, "a download cannot have `inputs`",
        help: "remove it; with `sha256`, opflow does not fetch a file that is already there")
    case .shell, .command: break
    }
    if task.flags.contains(.finally) {
      return error(
        key, "a `finally` task cannot have `inputs`",
        help: "it runs at the end of every run that started a task, even if nothing changed;"
          + " remove `inputs`")
    }
    task.hasInputs = true
    forEachItem(of: key.value, TaskKey.inputs) { item, subject in
      if let input = input(item, subject) { task.inputs.append(input) }
    }
  }

  private func readOutputs(_ key: Node, into task: inout TaskValues) {
    switch task.kind {
    case .approve, .block: return
    case .download:
      return error(
        key, "a download cannot have `outputs`",
        help: "its only output is the file `to`; remove `outputs`")
    case .shell, .command: break
    }
    forEachItem(of: key.value, TaskKey.outputs) { item, subject in
      guard document.kind(item) == .scalar else {
        return values.wrongType(item, subject, expected: "a path or a pattern")
      }
      guard let path = path(item, subject) else { return }
      task.written.append(TaskValues.WrittenFile(path: path, kind: .output))
    }
  }

  private func forEachItem(of node: Node, _ key: TaskKey, _ body: (Node, Subject) -> Void) {
    switch document.kind(node) {
    case .sequence: forEachItem(in: node, .item(of: key), body)
    case .scalar where values.describe(node) != "empty": body(node, Subject(key))
    case .scalar, .mapping:
      values.wrongType(
        node, Subject(key), expected: "a list of paths",
        help: key == .inputs && document.kind(node) == .mapping
          ? "write a list: [{ env: NAME }]" : nil)
    }
  }

  /// The YAML reader limits the depth of the recursion.
  private func forEachItem(in list: Node, _ subject: Subject, _ body: (Node, Subject) -> Void) {
    for item in document.children(list) {
      if document.kind(item) == .sequence {
        forEachItem(in: item, subject, body)
      } else {
        body(item, subject)
      }
    }
  }

  // MARK: Entries

  private func input(_ node: Node, _ subject: Subject) -> TaskValues.Input? {
    guard document.kind(node) == .mapping else {
      return path(node, subject).map { .file($0) }
    }
    if let help = values.quotingHelp(node) {
      return values.wrongType(node, subject, expected: "a path, a pattern or a map", help: help)
    }
    let fields = maps.fields(node, tables.input)
    if let run = fields.key(.run), fields.key(.env) != nil {
      return error(
        run, "\(tables.input.owner) cannot have both `env` and `run`",
        help: "write two items")
    }
    if let name = fields[.env] { return variable(name) }
    if let run = fields[.run] { return command(run) }
    if hasOtherKeys(node) { return nil }
    return error(
      node, "\(tables.input.owner) has neither `env` nor `run`",
      help:
        "write { env: NAME } for a variable, { run: [gcc, --version] } for the output of a command,"
        + " and a path as a string")
  }

  /// Unknown keys are already reported.
  private func hasOtherKeys(_ map: Node) -> Bool {
    var children = document.children(map)
    while let key = children.next(), children.next() != nil {
      guard let name = document.scalarText(key), maps.isMerge(key, name) else {
        return true
      }
    }
    return false
  }

  private func variable(_ node: Node) -> TaskValues.Input? {
    guard let name = values.filledString(node, Subject(InputKey.env)),
      values.isTaskVariable(name.text, at: node)
    else { return nil }
    if scope.secrets.contains(name.text) {
      return error(
        node, "`\(name.text.string)` is a secret, and opflow records the values of inputs",
        help: "remove it from `inputs`; a task gets secrets with its key `secrets`")
    }
    return .variable(name)
  }

  private func command(_ node: Node) -> TaskValues.Input? {
    guard document.kind(node) == .sequence else {
      return values.wrongType(
        node, Subject(InputKey.run), expected: "a list of strings",
        help: "opflow runs it without a shell: [gcc, --version]; with a shell: [sh, -c, \"…\"]")
    }
    return commands.readWords(node, Subject(InputKey.run)).map { .command($0) }
  }

  private func path(_ node: Node, _ subject: Subject) -> TaskValues.DeclaredPath? {
    guard let scalar = values.pathText(node, subject) else { return nil }
    let path = declared(scalar)
    if let (message, help) = problem(path) {
      return error(node, "`\(path.text.string)` \(message)", help: help)
    }
    values.warnOfShellText(scalar, node, subject)
    return path
  }

  private func declared(_ path: Scalar) -> TaskValues.DeclaredPath {
    var declared = TaskValues.DeclaredPath(
      node: path.node, text: path.text, isPattern: PathPattern.isPattern(path.text))
    if declared.isPattern || !path.text.contains(where: PathPattern.isEscaped) { return declared }
    let name = PathPattern.name(of: path.text)
    name.withUnsafeBytes { declared.text = scratch.copy($0) }
    if PathPattern.isPattern(declared.text) { declared.source = document.text(path.node) }
    return declared
  }

  /// Rejects pattern syntax of other tools, and invalid patterns.
  private func problem(_ path: TaskValues.DeclaredPath) -> (message: String, help: String)? {
    let text = path.text
    if text.first == UInt8(ascii: "!"), document.text(path.node).first == text.first {
      return (
        "begins with `!`, but a pattern cannot exclude files",
        "list only the files that matter; write `./\(text.string)` for a file with that name"
      )
    }
    if text.count > Self.longestPathBytes {
      return ("is too long for a path", "a path has at most \(Self.longestPathBytes) bytes")
    }
    // Braces from an expression are literal.
    if Self.braces(in: text) != nil,
      let braces = Self.braces(in: values.textWithoutValues(path.node))
    {
      return ("contains `\(braces)`, but opflow does not expand braces", Self.helpForBraces)
    }
    if path.isPattern, PathPattern(text.string) == nil {
      return (
        "is not a valid pattern: a `[` has no `]`", "close it, or write `[[]` for the character `[`"
      )
    }
    return nil
  }

  /// `PATH_MAX` of Linux, without the NUL.
  private static let longestPathBytes = 4095

  private static let helpForBraces =
    "write an item for each alternative, or `[{]` for the character `{`"

  /// A shell would expand such braces.
  private static func braces(in path: ByteView) -> String? {
    guard let open = path.firstIndex(of: UInt8(ascii: "{")),
      let close = path[open...].firstIndex(of: UInt8(ascii: "}")),
      path[open..<close].contains(UInt8(ascii: ","))
    else { return nil }
    return path.part(open..<(close + 1)).string
  }
}
