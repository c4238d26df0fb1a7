internal import OpflowCore

// The keys that stand in `defaults` and in tasks alike.

extension ManifestReader {
  /// Reads `defaults`, over what opflow itself has.
  mutating func readDefaults(_ node: Node?) {
    scope.sawTaskID = false
    // Where a task's id is spoken of, something must stand for it while there is no task.
    scope.taskID = scope.store.copy("task")
    defaults = readSettings(ofDefaults: node)
    if scope.sawTaskID { defaultsByTask = node }
    scope.taskID = nil
    standardDemand = (
      builder.demand(lists.demands.resolved(over: ResourceEntry.cpu)),
      builder.demand(lists.demands.resolved(over: ResourceEntry.download))
    )
    standardPolicy = (
      builder.policy(policy(of: defaults, for: .shell)),
      builder.policy(policy(of: defaults, for: .download))
    )
  }

  /// What the task whose turn it is starts from, where `defaults` differ from task to task.
  ///
  /// - Parameter node: `defaultsByTask`.
  mutating func settingsForTask(_ node: Node) -> TaskSettings {
    // Read and reported on before.
    mistakes.mute()
    defer { mistakes.unmute() }
    return readSettings(ofDefaults: node)
  }

  /// Reads settings, and `lists`, over what opflow itself has.
  private mutating func readSettings(ofDefaults node: Node?) -> TaskSettings {
    var settings = defaultsBase
    var lists = TaskLists(environment: environment)
    if let node { readSettings(ofDefaults: node, into: &settings, &lists) }
    place(lists.environment, in: &settings)
    self.lists = lists
    return settings
  }

  private mutating func readSettings(
    ofDefaults node: Node, into settings: inout TaskSettings, _ lists: inout TaskLists
  ) {
    guard document.kind(node) == .mapping else {
      values.wrongType(node, Subject(ManifestKey.defaults), expected: "a map")
      return
    }
    let fields = maps.fields(node, tables.defaults, owner: "`defaults`")
    if let node = fields[.shell], let shell = readShell(node) { settings.shell = shell }
    if let node = fields[.dir], let directory = readDirectory(node) {
      settings.directory = directory
      settings.directory.path = scope.store.copy(directory.path)
      settings.directory.stable = scope.store.copy(directory.stable)
    }
    if let node = fields[.env] {
      readEnvironment(node, into: &lists.environment)
    }
    if let node = fields[.timeout] { readTimeout(node, into: &settings) }
    if let node = fields[.retry] { readRetry(node, into: &settings) }
    if let node = fields[.stop] { readStop(node, into: &settings) }
    if let node = fields[.priority] { readPriority(node, into: &settings) }
    if let node = fields[.resources] { readDemands(node, into: &lists.demands) }
    if let node = fields[.onInterrupted] { readOnInterrupted(node, into: &settings) }
  }

  /// Adds an environment to the plan, and lets the settings speak of it.
  mutating func place(_ environment: EnvironmentList, in settings: inout TaskSettings) {
    environmentItems.removeAll(keepingCapacity: true)
    for value in environment.values { environmentItems.append(value.item) }
    settings.environmentIndex = builder.environment(environmentItems)
    settings.environmentDigest = environment.digest
  }

  mutating func policy(of settings: TaskSettings, for kind: ActionKind) -> TaskPolicy {
    var policy = settings.policy
    if kind == .download {
      if !settings.hasRetryMax { policy.retryMax = 3 }
      // A download has no exit code that `retry` could choose by.
      policy.retryCodes = 0
    }
    return policy
  }

  // MARK: Values

  mutating func readShell(_ node: Node) -> ShellWords? {
    let subject = Subject(TaskKey.shell)
    if document.kind(node) == .sequence {
      guard let words = readWords(node, subject) else { return nil }
      return ShellWords(
        list: builder.list(words.map { builder.intern($0.text) }),
        digest: Digest.list(words.map(\.stable)))
    }
    guard document.kind(node) == .scalar else {
      values.wrongType(node, subject, expected: "a string or a list of strings")
      return nil
    }
    guard let name = values.filledString(node, subject) else { return nil }
    guard let words = ShellName.words(name.text.string) else {
      mistakes.error(
        document.place(node), "opflow does not know how `\(name.text.string)` takes a script",
        help: "write all words before the script, such as [python3, -c]")
      return nil
    }
    return ShellWords(
      list: builder.list(words.map { builder.intern($0) }),
      digest: Digest.list(words.map { values.scratch.copy($0) }))
  }

  /// The words of a command. Their text is what is written: `[sleep, 1]` means the text `1`.
  mutating func readWords(_ node: Node, _ subject: Subject) -> [Scalar]? {
    guard case .key(let name) = subject else { return nil }
    var words: [Scalar] = []
    for item in document.children(node) {
      guard let word = values.scalar(item, .item(name), expected: "a string") else { return nil }
      words.append(word)
    }
    guard let first = words.first else {
      mistakes.error(document.place(node), "\(subject.description) is empty")
      return nil
    }
    if first.text.isEmpty {
      mistakes.error(
        document.place(first.node),
        "the first word of \(subject.description) \(values.emptiness(first.node))")
      return nil
    }
    if !values.hasExpression(first.node), first.text.contains(where: ASCII.isBlank) {
      mistakes.error(
        document.place(first.node),
        "the first item of \(subject.description) is the program's name, and this one holds a blank",
        help: "a list is one command: use `run: |` for several lines")
      return nil
    }
    return words
  }

  mutating func readDirectory(_ node: Node) -> Directory? {
    guard let scalar = values.filledString(node, Subject(TaskKey.dir)) else { return nil }
    warnOfShellText(scalar, node, Subject(TaskKey.dir))
    return directory(scalar)
  }

  mutating func directory(_ scalar: Scalar) -> Directory {
    let folder = folderPath
    let path = PathText.absolute(scalar.text, from: folder, store: values.scratch)
    let stable =
      scalar.text.isSame(as: scalar.stable)
      ? path : PathText.absolute(scalar.stable, from: folder, store: values.scratch)
    return Directory(path: path, stable: stable, ref: builder.intern(path))
  }
}
