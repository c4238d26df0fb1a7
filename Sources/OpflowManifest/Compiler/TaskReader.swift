internal import OpflowCore

// `tasks`.

extension ManifestReader {
  mutating func readTasks(_ fields: Fields<ManifestKey>) {
    guard let node = fields[.tasks] else {
      if fields.isMeant(.tasks) { return }
      mistakes.error(
        document.place(document.root), "`tasks` is missing",
        help: "declare at least one task under `tasks`")
      return
    }
    guard document.kind(node) == .mapping else {
      values.wrongType(
        node, Subject(ManifestKey.tasks), expected: "a map from ids to tasks",
        help: listedTaskHelp(node))
      return
    }
    let entries = maps.entries(node)
    if entries.count == 0 {
      mistakes.error(
        document.place(node), "`tasks` is empty", help: "declare at least one task")
    }
    tasks = entries
    let nodeCount = document.nodeCount
    builder.reserve(
      taskCount: entries.count, edgeCount: min(nodeCount, entries.count * 8),
      textByteCount: document.source.count)
    needs.reserve(taskCount: entries.count, edgeCount: min(nodeCount, entries.count * 4))
    finallyTasks = [Bool](repeating: false, count: entries.count)
    needStamps = [Int32](repeating: -1, count: entries.count)
    _ = builder.file(source.path)
    for index in 0..<entries.count { readTask(index) }
    checkFinally()
  }

  /// Reads one task. One that is wrong is added too, so that numbers stay what they are.
  private mutating func readTask(_ index: Int) {
    let name = tasks.name(index)
    let key = tasks.keys[index]
    if let mistake = TaskName.mistake(name) {
      mistakes.error(document.place(key), mistake, help: TaskName.rule)
    }
    values.scratch.removeAll()
    scope.taskID = name
    var task = TaskEntry(name: builder.append(name), kind: .command)
    if options.wantsPlan {
      let line = lines.line(of: document.offset(key), in: document.source)
      task.line = UInt32(truncatingIfNeeded: line)
    }
    let node = tasks.value(index)
    if document.kind(node) == .mapping {
      var fields = Fields<TaskKey>()
      maps.readFields(node, tables.task, owner: TaskKey.owner, into: &fields)
      read(fields, key: key, index: index, into: &task)
    } else {
      reportNoTask(index)
      _ = readNeeds(nil, of: index)
    }
    guard options.wantsPlan else { return }
    _ = builder.add(task)
    if builder.arenaByteCount > Self.longestArena {
      mistakes.error(document.place(key), "the texts of the plan grow beyond 3 GiB")
    }
  }

  /// The plan's format refers to texts by 32 bits.
  private static var longestArena: Int { 3 << 30 }

  private func reportNoTask(_ index: Int) {
    let node = tasks.value(index)
    let name = tasks.name(index).string
    let found = values.describe(node)
    mistakes.error(
      document.place(found == "empty" ? tasks.keys[index] : node),
      found == "empty" ? "task `\(name)` is empty" : "task `\(name)` must be a map, not \(found)",
      help: values.quotingHelp(node)
        ?? (found == "a string" || found == "a list"
          ? "write \(name): { run: … }" : "give it `run` or `download`"))
  }

  /// For tasks as a list of maps with a `name`, as playbooks and workflows have them.
  private func listedTaskHelp(_ node: Node) -> String? {
    guard document.kind(node) == .sequence else { return nil }
    var children = document.children(node)
    var id = "build"
    if let first = children.next(), document.kind(first) == .mapping {
      var entries = document.children(first)
      while let key = entries.next(), let value = entries.next() {
        guard let name = document.scalarText(key), name == "name" || name == "id",
          let text = document.scalarText(value), TaskName.mistake(text) == nil
        else { continue }
        id = text.string
        break
      }
    }
    return "each task stands under its id: `tasks: { \(id): { run: … } }`"
  }

  private mutating func read(
    _ fields: Fields<TaskKey>, key: Node, index: Int, into task: inout TaskEntry
  ) {
    if let matrix = fields.key(.matrix) { readMatrix(matrix) }
    var settings = defaults
    if let node = defaultsByTask { settings = settingsForTask(node) }
    let hasOwnPolicy = readOwnSettings(fields, into: &settings)
    readFlags(fields, index: index, into: &task)
    if settings.failsWhenInterrupted { task.flags.insert(.failWhenInterrupted) }

    readAction(fields, key: key, in: settings.directory, into: &task)
    task.priority = settings.priority
    task.environment = settings.environmentIndex
    task.directory = settings.directory.ref
    if !options.wantsPlan {
      // A policy has no mistakes of its own.
    } else if hasOwnPolicy || defaultsByTask != nil {
      task.policy = policyIndex(policy(of: settings, for: task.kind))
    } else {
      task.policy = task.kind == .download ? standardPolicy.download : standardPolicy.command
    }
    if fields.key(.resources) != nil || defaultsByTask != nil {
      let standard = task.kind == .download ? ResourceEntry.download : ResourceEntry.cpu
      var demands = lists.demands
      if let node = fields[.resources] { readDemands(node, into: &demands) }
      task.demand = builder.demand(demands.resolved(over: standard))
    } else {
      task.demand = task.kind == .download ? standardDemand.download : standardDemand.command
    }
    if task.kind == .shell { task.shell = settings.shell.list }

    let needs = readNeeds(fields[.needs], of: index)
    if options.wantsPlan { task.fingerprint = fingerprint(task.kind, settings, needs: needs) }

    readFiles(fields, in: settings.directory)
    if let secrets = fields.key(.secrets) { readSecrets(secrets) }
    if fields.key(.matrix) != nil { scope.matrixNames.removeAll(keepingCapacity: true) }
  }

  /// The fingerprint of the task whose action was added to the hasher last.
  private mutating func fingerprint(
    _ kind: ActionKind, _ settings: TaskSettings, needs: UInt64
  ) -> Fingerprint {
    // An older opflow told of downloads as of commands.
    hasher.end(kind == .download && options.fingerprints == .relative ? .download : .run)
    hasher.add(settings.environmentDigest)
    hasher.end(.env)
    hasher.add(fingerprintPath(settings.directory.stable))
    hasher.end(.dir)
    if kind == .shell { hasher.add(settings.shell.digest) }
    hasher.end(.shell)
    hasher.add(needs)
    hasher.end(.needs)
    return hasher.finish()
  }

  /// What stands for an absolute path in a fingerprint.
  func fingerprintPath(_ path: Text) -> Text {
    switch options.fingerprints {
    case .relative: PathText.relative(path, to: folderPath)
    case .absolute: path
    }
  }

  /// Neighbours mostly share one policy.
  private mutating func policyIndex(_ policy: TaskPolicy) -> UInt32 {
    if let lastPolicy, lastPolicy.policy == policy { return lastPolicy.index }
    let index = builder.policy(policy)
    lastPolicy = (policy, index)
    return index
  }

  /// The keys that `defaults` may have too. Returns whether any of them is about the policy.
  private mutating func readOwnSettings(
    _ fields: Fields<TaskKey>, into settings: inout TaskSettings
  ) -> Bool {
    var hasOwnPolicy = false
    if let node = fields[.env] {
      var environment = options.wantsPlan ? lists.environment : EnvironmentList()
      readEnvironment(node, into: &environment)
      if options.wantsPlan { place(environment, in: &settings) }
    }
    if let node = fields[.dir], let directory = readDirectory(node) {
      settings.directory = directory
    }
    if let node = fields[.shell], let shell = readShell(node) { settings.shell = shell }
    if let node = fields[.timeout] {
      readTimeout(node, into: &settings)
      hasOwnPolicy = true
    }
    if let node = fields[.retry] {
      readRetry(node, into: &settings)
      hasOwnPolicy = true
    }
    if let node = fields[.stop] {
      readStop(node, into: &settings)
      hasOwnPolicy = true
    }
    if let node = fields[.priority] { readPriority(node, into: &settings) }
    if let node = fields[.onInterrupted] { readOnInterrupted(node, into: &settings) }
    return hasOwnPolicy
  }

  private mutating func readFlags(
    _ fields: Fields<TaskKey>, index: Int, into task: inout TaskEntry
  ) {
    if let node = fields[.finally], values.boolean(node, Subject(TaskKey.finally)) == true {
      task.flags.insert(.finally)
      finallyTasks[index] = true
    }
    if let node = fields[.condition], readCondition(node) == false {
      task.flags.insert(.conditionFalse)
    }
    if let node = fields[.allowFailure] { readAllowFailure(node, into: &task) }
    if let node = fields[.desc], let text = values.string(node, Subject(TaskKey.desc)) {
      task.description = builder.append(text.text)
    }
    if let node = fields[.tags], let tags = readTags(node) {
      task.tags = builder.list(tags.map { builder.intern($0.text) })
    }
  }

  /// A list, or one tag.
  private mutating func readTags(_ node: Node) -> [Scalar]? {
    guard document.kind(node) == .scalar, values.describe(node) != "empty" else {
      return values.strings(node, TaskKey.tags, expected: "a list of strings")
    }
    guard let tag = values.filledString(node, Subject(TaskKey.tags)) else { return nil }
    if tag.text.contains(where: { ASCII.isBlank($0) || $0 == UInt8(ascii: ",") }) {
      mistakes.error(
        document.place(node), "`tags` is one tag here, and a tag holds no blank and no comma",
        help: "several tags are a list: [fast, slow]")
      return nil
    }
    return [tag]
  }

  /// `if`: nil when it cannot be read.
  private mutating func readCondition(_ node: Node) -> Bool? {
    let subject = Subject(TaskKey.condition)
    guard document.kind(node) == .scalar else {
      values.wrongType(node, subject, expected: "an expression")
      return nil
    }
    let text = document.text(node)
    if text.trimmed.isEmpty || (document.isPlain(node) && CoreSchema.type(of: text) == .null) {
      mistakes.error(
        document.place(node), "`if` is empty", help: "write an expression, such as env.CI == 'true'"
      )
      return nil
    }
    let values = values
    let names = ScopedNames(scope: scope) { values.report($0, in: node) }
    do {
      let value = try ExpressionTemplate.evaluateWhole(
        text, names: names, literals: scope.literals)
      return ExpressionParser<ScopedNames>.isTrue(value)
    } catch {
      values.report(error, in: node)
      return nil
    }
  }

  private mutating func readAllowFailure(_ node: Node, into task: inout TaskEntry) {
    let subject = Subject(TaskKey.allowFailure)
    switch document.kind(node) {
    case .sequence:
      if let codes = values.exitCodes(node, subject, items: TaskKey.allowFailure.name) {
        task.allowedCodes = builder.codes(codes)
      }
    case .scalar:
      let isCode = CoreSchema.integer(document.text(node)) != nil
      if values.boolean(
        node, subject, expected: "true, false or a list of exit codes",
        help: isCode ? values.listHelp(node, ofNumbers: true) : nil) == true
      {
        task.flags.insert(.allowAnyFailure)
      }
    case .mapping:
      values.wrongType(node, subject, expected: "true, false or a list of exit codes")
    }
  }
}
