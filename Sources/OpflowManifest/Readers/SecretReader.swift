internal import OpflowPlan

struct DeclaredSecret {
  enum Source {
    case environment(ByteView)
    case file(ByteView)
    case command([Scalar])
  }

  let name: ByteView
  let source: Source
}

struct SecretReader: NodeReader {
  let values: ValueReader
  private var secrets: SecretScope { scope.secrets }
  /// Messages to workers contain the names.
  private static let longestNameBytes = 255

  // MARK: - Sources

  func readSources(_ node: Node) -> [DeclaredSecret] {
    guard let entries = values.mapEntries(node, Subject(ManifestKey.secrets)) else { return [] }
    var secrets: [DeclaredSecret] = []
    for index in 0..<entries.count {
      let name = entries.name(index)
      guard isName(name, at: entries.keys[index]),
        let source = readSource(entries.value(index), .entry("secrets", name))
      else { continue }
      if case .environment(let variable) = source { self.secrets.noteSource(name, variable) }
      secrets.append(DeclaredSecret(name: name, source: source))
    }
    return secrets
  }

  private func readSource(_ node: Node, _ subject: Subject) -> DeclaredSecret.Source? {
    guard
      let fields = fields(
        node, subject, tables.secret,
        help: "write its source: { env: NAME }, { file: PATH } or { run: [COMMAND] }")
    else { return nil }
    let given = SecretKey.allCases.compactMap { fields.key($0) }
    if given.count > 1 {
      diagnostics.error(
        given.map { document.place($0) }.max() ?? document.place(node),
        "\(subject.description) can have only one of `env`, `file` and `run`",
        help: "keep one of them")
      return nil
    }
    if let name = fields[.env] { return readVariable(name) }
    if fields[.file] != nil { return filled(fields, .file).map { .file(kept($0.text)) } }
    if let run = fields[.run] { return readCommand(run) }
    if SecretKey.allCases.contains(where: { fields.isMeant($0) }) { return nil }
    return error(
      node, "\(subject.description) has no source", help: "add `env`, `file` or `run`")
  }

  private func readVariable(_ node: Node) -> DeclaredSecret.Source? {
    guard let name = values.filledString(node, Subject(SecretKey.env)),
      isVariable(name.text, at: node)
    else { return nil }
    return .environment(kept(name.text))
  }

  private func readCommand(_ node: Node) -> DeclaredSecret.Source? {
    guard document.kind(node) == .sequence else {
      return values.wrongType(
        node, Subject(SecretKey.run), expected: "a list of strings",
        help: "opflow runs it without a shell: [pass, show, token]; with a shell: [sh, -c, \"…\"]")
    }
    return commands.readWords(node, Subject(SecretKey.run)).map { .command($0) }
  }

  /// The text may come from an expression.
  private func kept(_ text: ByteView) -> ByteView { scope.store.copy(text) }

  // MARK: - Uses

  /// Reads a task's list, and the secrets in a download's headers.
  @inline(__always)
  func readNames(_ key: Node?, into task: inout TaskValues) {
    let isDownload = if case .download = task.kind { true } else { false }
    guard key != nil || isDownload else { return }
    secrets.beginTask()
    if let key { readList(key, into: &task) }
    if isDownload { for name in secrets.takeRead() { add(name, to: &task) } }
  }

  private func readList(_ key: Node, into task: inout TaskValues) {
    if document.kind(key.value) == .mapping {
      return values.wrongType(
        key.value, Subject(TaskKey.secrets), expected: "a list of names",
        help: "write `secrets: [TOKEN]`; the source of `TOKEN` goes into `secrets` at the top of "
          + "the manifest")
    }
    let names = values.strings(key.value, TaskKey.secrets, expected: "a list of names") ?? []
    var set = TextTable()
    if task.own.contains(.environment) {
      for variable in task.lists.environment.variables { _ = set.insert(variable.name) }
    }
    for name in names where isName(name.text, at: name.node) {
      // Finds reads before the list was known, and names from expressions.
      let isSet = secrets.whereSet(name.text) != nil
      if !isSet, scope.inherited.hasRead(name.text) {
        error(
          name.node,
          "`\(name.text.string)` is a secret, but an expression reads `env.\(name.text.string)`",
          help: "remove it from the expression; the task gets it as an environment variable")
      }
      if secrets.isUnknown(name.text) {
        error(
          name.node, SecretText.isUnknown(name.text),
          help: scope.suggestions.help(for: name.text, among: secrets.ofRun?.texts ?? [])
            ?? SecretText.helpForUnknown(name.text))
        continue
      }
      refuseSet(name, set.index(of: name.text) != nil)
      if let missing = secrets.missing(name.text, scope.taskID) {
        error(name.node, missing.message(name.text.string), help: missing.help)
      }
      add(name.text, to: &task)
    }
  }

  private func refuseSet(_ name: Scalar, _ isOwn: Bool) {
    let set = isOwn ? nil : secrets.whereSet(name.text)
    guard isOwn || set != nil else { return }
    diagnostics.add(
      .error, document.place(name.node),
      SecretText.isSet(name.text, as: set?.variable ?? name.text), help: SecretText.helpForSet,
      notes: Diagnostics.note(set?.place, "it is set here"))
  }

  private func add(_ name: ByteView, to task: inout TaskValues) {
    if let name = secrets.listedFirst(name) { task.texts.add(name, as: .secrets) }
  }

  private func isName(_ name: ByteView, at node: Node) -> Bool {
    guard isVariable(name, at: node) else { return false }
    if name.hasPrefix("OPFLOW_") {
      error(
        node, "`\(name.string)` is reserved",
        help: "opflow sets the variables that begin with `OPFLOW_`; choose another name")
      return false
    }
    return true
  }

  private func isVariable(_ name: ByteView, at node: Node) -> Bool {
    if VariableName.isEnvironment(name), name.count <= Self.longestNameBytes { return true }
    error(
      node,
      name.count > Self.longestNameBytes
        ? "the name is too long; the name of a secret has at most \(Self.longestNameBytes) bytes"
        : "`\(name.string)` is not a valid environment variable name",
      help: name.count > Self.longestNameBytes
        ? "choose a shorter name" : "a name cannot contain spaces, control characters or `=`")
    return false
  }
}

extension ValueReader {
  /// A secret of the run cannot be set.
  func noteSet(_ variable: EnvironmentList.Variable) {
    let place = document.place(variable.value.node)
    guard let secret = scope.secrets.noteSet(variable.name, at: place) else { return }
    diagnostics.error(
      place, SecretText.isSet(secret, as: variable.name), help: SecretText.helpForSet)
  }
}
