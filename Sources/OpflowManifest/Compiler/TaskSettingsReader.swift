internal import OpflowCore

// The keys that stand in `defaults` and in tasks alike.

extension ManifestReader {
  /// Reads `defaults`, over what opflow itself has.
  mutating func readDefaults(_ node: Node?) {
    scope.sawTaskID = false
    // Where a task's id is spoken of, something must stand for it while there is no task.
    scope.taskID = scope.store.copy("task")
    defaultsBase.environment = environment
    defaults = defaultsBase
    if let node { defaults = readSettings(ofDefaults: node, over: defaultsBase) }
    if scope.sawTaskID { defaultsByTask = node }
    scope.taskID = nil
    defaults = withLists(defaults)
    standardDemand = (
      builder.demand(defaults.demands.resolved(over: ResourceEntry.cpu)),
      builder.demand(defaults.demands.resolved(over: ResourceEntry.download))
    )
    standardPolicy = (
      builder.policy(policy(of: defaults, for: .shell)),
      builder.policy(policy(of: defaults, for: .download))
    )
  }

  /// What the task whose turn it is starts from.
  mutating func settingsForTask() -> TaskSettings {
    guard let node = defaultsByTask else { return defaults }
    // Read and reported on before.
    mistakes.mute()
    defer { mistakes.unmute() }
    return withLists(readSettings(ofDefaults: node, over: defaultsBase))
  }

  private mutating func readSettings(
    ofDefaults node: Node, over base: TaskSettings
  ) -> TaskSettings {
    var settings = base
    guard document.kind(node) == .mapping else {
      values.wrongType(node, Subject(ManifestKey.defaults), expected: "a map")
      return settings
    }
    let fields = maps.fields(node, tables.defaults, owner: "`defaults`")
    if let node = fields[.shell], let shell = readShell(node) { settings.shell = shell }
    if let node = fields[.dir], let directory = readDirectory(node) {
      settings.directory = directory
      settings.directory.path = scope.store.copy(directory.path)
      settings.directory.stable = scope.store.copy(directory.stable)
    }
    if let node = fields[.env] {
      settings.environment = readEnvironment(node, over: settings.environment)
    }
    if let node = fields[.timeout] { readTimeout(node, into: &settings) }
    if let node = fields[.retry] { readRetry(node, into: &settings) }
    if let node = fields[.stop] { readStop(node, into: &settings) }
    if let node = fields[.priority] { readPriority(node, into: &settings) }
    if let node = fields[.resources] { readDemands(node, into: &settings) }
    if let node = fields[.onInterrupted] { readOnInterrupted(node, into: &settings) }
    return settings
  }

  /// The settings with their environment in the plan.
  mutating func withLists(_ settings: TaskSettings) -> TaskSettings {
    var settings = settings
    environmentItems.removeAll(keepingCapacity: true)
    for value in settings.environment.values { environmentItems.append(value.item) }
    settings.environmentIndex = builder.environment(environmentItems)
    settings.environmentDigest = settings.environment.digest
    return settings
  }

  func policy(of settings: TaskSettings, for kind: ActionKind) -> TaskPolicy {
    var policy = settings.policy
    if kind == .download, !settings.hasRetryMax { policy.retryMax = 3 }
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
  func readWords(_ node: Node, _ subject: Subject) -> [Scalar]? {
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
        document.place(first.node), "the first word of \(subject.description) is empty")
      return nil
    }
    if !values.hasExpression(first.node), first.text.contains(where: Character8.isBlank) {
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

  func readTimeout(_ node: Node, into settings: inout TaskSettings) {
    if let value = values.duration(node, Subject(TaskKey.timeout)) {
      settings.policy.timeoutMilliseconds = value
    }
  }

  mutating func readRetry(_ node: Node, into settings: inout TaskSettings) {
    if document.kind(node) == .scalar {
      if let value = values.integer(
        node, Subject(TaskKey.retry), in: 0...1_000_000, expected: "a whole number or a map")
      {
        settings.policy.retryMax = UInt32(value)
        settings.hasRetryMax = true
      }
      return
    }
    guard document.kind(node) == .mapping else {
      values.wrongType(node, Subject(TaskKey.retry), expected: "a whole number or a map")
      return
    }
    let fields = maps.fields(node, tables.retry, owner: "`retry`")
    if let node = fields[.max],
      let value = values.integer(node, Subject(RetryKey.max), in: 0...1_000_000)
    {
      settings.policy.retryMax = UInt32(value)
      settings.hasRetryMax = true
    }
    if let node = fields[.delay],
      let value = values.duration(node, Subject(RetryKey.delay), atMost: Self.longestDelay)
    {
      settings.policy.retryDelayMilliseconds = UInt32(value)
    }
    if let node = fields[.maxDelay],
      let value = values.duration(node, Subject(RetryKey.maxDelay), atMost: Self.longestDelay)
    {
      settings.policy.retryMaxDelayMilliseconds = UInt32(value)
    }
    if let node = fields[.backoff],
      let value = values.number(node, Subject(RetryKey.backoff), in: 1...1000)
    {
      settings.policy.retryBackoffPermille = UInt32(value * 1000 + 0.5)
    }
    if let node = fields[.jitter],
      let value = values.number(node, Subject(RetryKey.jitter), in: 0...1)
    {
      settings.policy.retryJitterPermille = UInt32(value * 1000 + 0.5)
    }
    if let node = fields[.exitCodes],
      let codes = values.exitCodes(node, Subject(RetryKey.exitCodes), items: "exit_codes")
    {
      settings.policy.retryCodes = builder.codes(codes)
    }
  }

  /// A thousand hours, in milliseconds: the plan keeps delays in 32 bits.
  private static var longestDelay: UInt64 { 1000 * 3_600_000 }

  func readStop(_ node: Node, into settings: inout TaskSettings) {
    guard document.kind(node) == .mapping else {
      values.wrongType(node, Subject(TaskKey.stop), expected: "a map")
      return
    }
    let fields = maps.fields(node, tables.stop, owner: "`stop`")
    if let node = fields[.signal],
      let number = values.word(
        node, Subject(StopKey.signal), known: SignalName.known, parse: SignalName.number)
    {
      settings.policy.stopSignal = number
    }
    if let node = fields[.grace],
      let value = values.duration(node, Subject(StopKey.grace), atMost: Self.longestDelay)
    {
      settings.policy.stopGraceMilliseconds = UInt32(value)
    }
  }

  func readPriority(_ node: Node, into settings: inout TaskSettings) {
    if let value = values.word(
      node, Subject(TaskKey.priority), known: PriorityName.known, parse: PriorityName.value)
    {
      settings.priority = value
    }
  }

  func readOnInterrupted(_ node: Node, into settings: inout TaskSettings) {
    let fails = values.word(
      node, Subject(TaskKey.onInterrupted), known: "rerun or fail"
    ) { text in text == "fail" ? true : text == "rerun" ? false : nil }
    if let fails { settings.failsWhenInterrupted = fails }
  }

  func readDemands(_ node: Node, into settings: inout TaskSettings) {
    guard let entries = mapEntries(node, Subject(TaskKey.resources)) else { return }
    for index in 0..<entries.count {
      let name = entries.name(index)
      guard let resource = resources.index(of: name) else {
        mistakes.error(
          document.place(entries.keys[index]), "unknown resource `\(name.string)`",
          help: Suggestion.help(for: name, among: resources.names.texts)
            ?? "declare its capacity under top-level `resources`")
        continue
      }
      guard let amount = readAmount(entries.value(index), name, atLeast: 0) else { continue }
      if check(amount, of: resource, name, at: entries.value(index)) {
        settings.demands.set(resource, amount)
      }
    }
  }

  /// Whether a demand can ever be met.
  private func check(_ amount: UInt64, of resource: UInt32, _ name: Text, at node: Node) -> Bool {
    let capacity = resources.capacity(resource)
    if amount <= capacity { return true }
    if ResourceTable.isCut(resource) {
      mistakes.warning(
        document.place(node),
        "`\(name.string)` \(amount) is more than the \(capacity) there is: the task runs alone")
      return true
    }
    mistakes.error(
      document.place(node), "`\(name.string)` \(amount) is more than its capacity \(capacity)",
      help: "ask for less, or raise the capacity under top-level `resources`")
    return false
  }
}
