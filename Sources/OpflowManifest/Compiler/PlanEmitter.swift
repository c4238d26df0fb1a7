internal import CYAML
internal import OpflowPlan

/// Tasks must be added in the order of their numbers.
struct PlanEmitter: ~Copyable {
  private var builder = PlanBuilder()
  private var fingerprints: FingerprintWriter
  /// Shared by the tasks of a part.
  private var standard = StandardEntries()
  private var part = -1
  private var standardDemands = Demands()
  private var lines = LineCounter(ByteView.empty)
  private var lastPolicy: (policy: TaskPolicy, index: UInt32)?
  private var items: [EnvironmentItem] = []
  /// Variables that are evaluated when the task starts; `place` is an index into `items`.
  private var lateVariables: [(place: Int, text: ByteView)] = []
  private(set) var limit: PlanSizeLimit
  /// `decides` if the task's `if` reads the values.
  private var readings: [(task: Int, needs: Range<Int>, decides: Bool)] = []
  private let run: RunTasks?
  private let scratch = TextStore()

  private struct StandardEntries {
    var shell: ListIndex = 0
    var shellDigest: UInt64 = 0
    var directory = TextRef.empty
    var variables: UInt32 = 0
    var variableNames = TextTable()
    var environment: UInt32 = 0
    var environmentDigest: UInt64 = 0
    var policy: (command: UInt32, download: UInt32) = (0, 0)
    var demand: (command: UInt32, download: UInt32) = (0, 0)
    var file: ListIndex = 0
  }

  /// - Parameter instancesLeft: The tasks of the matrix still to come.
  mutating func isTooLarge(instancesLeft: Int) -> Bool {
    limit.isExceeded(by: builder.byteCount, tasks: builder.taskCount, instancesLeft: instancesLeft)
  }

  init(_ reading: borrowing ManifestReading, of files: FileLoader, _ style: FingerprintStyle) {
    run = files.run
    fingerprints = FingerprintWriter(folder: reading.folder, style: style)
    let (taskCount, byteCount) = (reading.tasks.count, reading.byteCount)
    limit = PlanSizeLimit(
      taskCount: taskCount, byteCount: byteCount + files.further.byteCount,
      taken: run?.plan.allTexts.count ?? 0)
    builder.reserve(
      taskCount: taskCount, edgeCount: min(reading.nodeCount, taskCount * 8),
      textByteCount: byteCount)
  }

  private mutating func begin(_ part: IncludedFile, _ defaults: TaskDefaults) {
    lines = LineCounter(part.document.file.text)
    standardDemands = defaults.lists.demands
    let settings = defaults.settings
    let environment = defaults.lists.environment
    let variables = builder.variables(environment.variables.map { builder.item($0) })
    var variableNames = TextTable()
    for variable in environment.variables { _ = variableNames.insert(variable.name) }
    let kinds = (command: ActionKind.shell, download: ActionKind.download)
    standard = StandardEntries(
      shell: builder.list(settings.shell),
      shellDigest: FingerprintWriter.digest(of: settings.shell),
      directory: builder.intern(settings.directory.path), variables: variables,
      variableNames: variableNames, environment: builder.environment([], over: variables),
      environmentDigest: environment.variables.reduce(0) { $0 &+ FingerprintWriter.digest(of: $1) },
      policy: (
        builder.policy(builder.policy(settings, kinds.command)),
        builder.policy(builder.policy(settings, kinds.download))
      ),
      demand: (
        builder.demand(defaults.lists.demands.resolved(for: kinds.command)),
        builder.demand(defaults.lists.demands.resolved(for: kinds.download))
      ), file: part.path.map { builder.list([builder.intern($0)]) } ?? 0)
  }

  /// - Parameter task: Must have no errors. Tasks of a part must be added in succession.
  mutating func add(
    _ task: borrowing TaskValues, of part: Int, in files: FileLoader, at place: Place,
    _ defaults: TaskDefaults
  ) {
    if part != self.part {
      begin(files.parts[part], defaults)
      self.part = part
    }
    scratch.removeAll()
    let kind = task.kind
    var entry = TaskEntry(name: builder.append(task.name), kind: kind)
    entry.record.line = lines.line(of: place.offset)
    entry.record.file = standard.file
    entry.flags = task.flags
    entry.priority = task.settings.priority
    for text in TaskText.allCases {
      let values = task.texts[text]
      if values.isEmpty { continue }
      entry.record.texts[text] = builder.list(values, areCommon: text.isCommon)
    }
    if !task.allowedCodes.isEmpty { entry.record.allowedCodes = builder.codes(task.allowedCodes) }
    switch kind {
    case .shell:
      if let script = task.script { entry.record.script = builder.append(script.text) }
      entry.record.shell =
        task.own.contains(.shell) ? builder.list(task.settings.shell) : standard.shell
    case .command: entry.record.words = builder.list(task.words)
    case .approve:
      if let question = task.script { entry.record.script = builder.append(question.text) }
    case .block: break
    case .download:
      if let download = task.download {
        entry.record.download = add(download, in: task.settings.directory)
      }
    }
    entry.record.directory =
      task.own.contains(.directory)
      ? builder.intern(task.settings.directory.path) : standard.directory
    entry.policy = policy(of: task)
    entry.demand = demand(of: task)
    if let service = task.service { entry.record.service = add(service) }
    entry.record.processes = task.processes
    if let instances = task.instances {
      builder.expect(caches: instances.areCached, memoryLimits: instances.areLimited)
    }
    var environmentDigest = standard.environmentDigest
    entry.record.environment = standard.environment
    lateVariables.removeEach()
    if task.own.contains(.environment) {
      let own = task.lists.environment
      environmentDigest &+= setItems(to: own, over: defaults.lists.environment)
      entry.record.environment = builder.environment(items, over: standard.variables)
    }
    let secrets = task.texts[.secrets]
    if !secrets.isEmpty {
      environmentDigest = FingerprintWriter.digest(of: environmentDigest, secrets: secrets)
    }
    addLate(of: task, to: &entry)
    entry.fingerprint = fingerprints.fingerprint(
      of: task, environment: environmentDigest,
      shell: task.own.contains(.shell)
        ? FingerprintWriter.digest(of: task.settings.shell) : standard.shellDigest)
    declare(task, as: builder.add(entry))
  }

  consuming func finish(
    _ reading: borrowing ManifestReading, inputs: PlanInputs, hasWarnings: Bool
  ) -> PlanBuilder.Outcome {
    let (manifest, tasks, needs) = (reading.manifest, reading.tasks, reading.needs)
    for file in inputs.files { builder.reads(file: file.path) }
    for glob in inputs.globs { builder.reads(glob: glob) }
    for task in 0..<needs.count {
      for edge in needs.edges(of: task) {
        let target = Int(needs.targets[edge])
        if let (run, id) = tasks.ofRun(target) {
          builder.addOuterNeed(builder.intern(run.name(id)), on: needs.conditions[edge])
        } else {
          builder.addNeed(TaskID(target), on: needs.conditions[edge])
        }
      }
      builder.endNeeds()
    }
    builder.addServicesToFingerprints(behind: run?.plan)
    addMatrixGroups(of: tasks, reading.instanceTexts)
    for values in readings { mark(values, needs) }
    for (task, decides) in reading.readsOfInstances {
      builder.mark(TaskID(task), decides ? [.leavesValues, .decidesOthers] : .leavesValues)
    }
    let wanted = builder.wantedResources
    builder.resources = manifest.resources.entries(
      { wanted.contains($0) }, intern: { builder.intern($0) })
    // Additions use the run's secrets.
    if run == nil { add(manifest.secrets, listed: reading.secrets.listed, folder: inputs.folder) }
    builder.readsEnvironment(inputs.environment.map(\.name))
    var entry = ManifestEntry(
      name: builder.intern(manifest.name), description: builder.intern(manifest.description),
      folder: builder.intern(inputs.folder), maxParallel: manifest.maxParallel,
      maxFailures: manifest.maxFailures, usesRunID: reading.sawRunID)
    entry.hasWarnings = hasWarnings ? 1 : 0
    entry.keepRuns = manifest.keepRuns
    entry.group = builder.intern(manifest.concurrency.name)
    entry.set(manifest.concurrency.ifRunning)
    return builder.finish(manifest: entry, key: inputs.key)
  }

  private mutating func addMatrixGroups(of tasks: TaskList, _ texts: MatrixTexts) {
    tasks.forEachMatrixGroup { name, first, matrixGroup in
      if matrixGroup.ids.isEmpty { return }
      var refs: [Int32: TextRef] = [:]
      var values: [TextRef] = []
      values.reserveCapacity(matrixGroup.values.count)
      for value in matrixGroup.values {
        let ref = refs[value] ?? builder.intern(texts[value])
        refs[value] = ref
        values.append(ref)
      }
      builder.addMatrixGroup(
        builder.intern(name), firstTask: TaskID(first), instanceCount: matrixGroup.ids.count,
        axes: matrixGroup.names.texts.map { builder.intern($0) }, values: values)
    }
  }

  // MARK: Parts

  /// A listed but undeclared secret comes from the environment.
  private mutating func add(_ declared: [DeclaredSecret], listed: TextTable, folder: String) {
    let folder = scratch.copy(folder)
    for secret in declared {
      let name = builder.intern(secret.name)
      switch secret.source {
      case .environment(let variable): addSecret(name, variable)
      case .file(let path):
        var entry = SecretEntry(name: name, source: .file)
        entry.text = builder.intern(PathText.absolute(path, from: folder, store: scratch))
        builder.secrets.append(entry)
      case .command(let words):
        var entry = SecretEntry(name: name, source: .command)
        entry.words = builder.list(words)
        builder.secrets.append(entry)
      }
    }
    if listed.count == 0 { return }
    var names = TextTable()
    for secret in declared { _ = names.insert(secret.name) }
    for name in listed.texts where names.index(of: name) == nil {
      addSecret(builder.intern(name), name)
    }
  }

  private mutating func addSecret(_ name: TextRef, _ variable: ByteView) {
    var entry = SecretEntry(name: name, source: .environment)
    entry.text = builder.intern(variable)
    builder.secrets.append(entry)
  }

  private mutating func add(_ download: Download, in directory: Directory) -> UInt32 {
    let to = download.to?.text ?? ByteView.empty
    let target = PathText.absolute(to, from: directory.path, store: scratch)
    var entry = DownloadEntry(target: builder.append(target), sources: builder.list(download.urls))
    if let hash = download.sha256 { entry.sha256 = builder.intern(hash) }
    if let hash = download.sha512 { entry.sha512 = builder.intern(hash) }
    if let size = download.sizeBytes { entry.sizeBytes = size }
    var headers: [EnvironmentItem] = []
    for header in download.headers {
      headers.append(
        EnvironmentItem(name: builder.intern(header.name), value: builder.intern(header.value.text))
      )
    }
    entry.headers = builder.variables(headers)
    if let mode = download.mode { entry.mode = mode }
    entry.resumes = download.resumes ? 1 : 0
    entry.maxBytesPerSecond = download.maximumBytesPerSecond ?? 0
    return builder.download(entry)
  }

  private mutating func add(_ service: ServiceValues) -> UInt32 {
    var entry = ServiceEntry(service.kind)
    entry.timeoutMilliseconds = service.timeoutMilliseconds
    entry.intervalMilliseconds = service.intervalMilliseconds
    entry.port = service.port
    if let text = service.text { entry.text = builder.intern(text.text) }
    entry.words = builder.list(service.words)
    entry.restarts = service.restarts
    entry.ports = builder.list(service.ports)
    return builder.service(entry)
  }

  private mutating func declare(_ task: borrowing TaskValues, as id: TaskID) {
    if task.inputs.isEmpty, task.written.isEmpty, !task.hasInputs { return }
    var inputs: [DeclaredItem] = []
    inputs.reserveCapacity(task.inputs.count)
    for input in task.inputs {
      switch input {
      case .file(let path): inputs.append(builder.item(path))
      case .variable(let name):
        inputs.append(DeclaredItem(.environment, text: builder.intern(name.text)))
      case .command(let words): inputs.append(DeclaredItem(words: builder.list(words)))
      }
    }
    var outputs: [DeclaredItem] = []
    for file in task.written { outputs.append(builder.item(file.path)) }
    builder.declare(id, inputs: task.hasInputs ? inputs : nil, outputs: outputs)
  }

  private mutating func addLate(of task: borrowing TaskValues, to entry: inout TaskEntry) {
    var folders = task.script?.text.foldersMentioned ?? []
    for word in task.words { folders.formUnion(word.text.foldersMentioned) }
    if folders.contains(.values) { entry.flags.insert(.leavesValues) }
    let needs = task.needs
    let edgeCount = folders.contains(.needs) ? needs.reduce(0) { $0 + $1.edgeCount } : 0
    guard task.readsValues || edgeCount > 0 else { return }
    entry.flags.insert(.readsValues)
    var items: [LateItem] = []
    let written = WrittenNeeds(task.readsValues ? needs : [])
    var counts: [Int: Int] = [:]
    func steps(_ text: ByteView, isTemplate: Bool = true) -> ListIndex {
      let steps = LateCompiler.steps(
        of: text, isTemplate: isTemplate, literals: scratch, intern: { builder.intern($0) }
      ) { id in
        guard let number = written.number(of: id) else { return nil }
        let named = written.needs(number)
        let first = Int(named[0])
        let count =
          counts[number]
          // Takes only matrix tasks that are listed next to each other.
          ?? named.enumerated().prefix { Int($1) == first + $0 }
          .reduce(0) { $0 + needs[Int($1.element)].edgeCount }
        counts[number] = count
        return (needs[first].firstEdge, count, count != 1)
      }
      for step in steps where step.count > 0 {
        let first = Int(step.first)
        readings.append((builder.taskCount, first..<(first + Int(step.count)), !isTemplate))
      }
      return builder.steps(steps)
    }
    if let condition = task.lateCondition {
      items.append(LateItem(.condition, program: steps(condition, isTemplate: false)))
    }
    for (place, text) in lateVariables {
      items.append(LateItem(.environment, position: place, program: steps(text)))
    }
    for (position, word) in task.words.enumerated() where word.isLate {
      items.append(LateItem(.word, position: position, program: steps(word.text)))
    }
    if let url = task.download?.urls.first, url.isLate {
      items.append(LateItem(.url, program: steps(url.text)))
    }
    if let hash = task.download?.lateSHA256 {
      items.append(LateItem(.sha256, program: steps(hash)))
    }
    if edgeCount > 0 {
      readings.append((builder.taskCount, 0..<edgeCount, false))
      items.append(LateItem(.folder, program: builder.steps([LateStep(.values, count: edgeCount)])))
    }
    entry.record.late = builder.late(items)
  }

  private mutating func mark(
    _ reading: (task: Int, needs: Range<Int>, decides: Bool), _ needs: NeedList
  ) {
    let edges = needs.edges(of: reading.task)
    for place in reading.needs {
      let target = TaskID(needs.targets[edges.lowerBound + place])
      // The run's tasks are already marked.
      if target.index >= needs.count { continue }
      builder.mark(target, reading.decides ? [.leavesValues, .decidesOthers] : .leavesValues)
    }
  }

  /// Neighbors mostly share a policy.
  private mutating func policy(of task: borrowing TaskValues) -> UInt32 {
    let kind = task.kind
    guard task.own.contains(.policy) else {
      return kind == .download ? standard.policy.download : standard.policy.command
    }
    let policy = builder.policy(task.settings, kind)
    if let lastPolicy, lastPolicy.policy == policy { return lastPolicy.index }
    let index = builder.policy(policy)
    lastPolicy = (policy, index)
    return index
  }

  private mutating func demand(of task: borrowing TaskValues) -> UInt32 {
    if task.kind == .approve { return 0 }
    if task.flags.contains(.service) {
      let demands = task.own.contains(.demands) ? task.lists.demands : standardDemands
      return builder.demand(demands.resolved(for: task.kind, isService: true))
    }
    guard task.own.contains(.demands) else {
      return task.kind == .download ? standard.demand.download : standard.demand.command
    }
    return builder.demand(task.lists.demands.resolved(for: task.kind))
  }

  /// Items are the differences from the defaults. Returns the change of the digest.
  private mutating func setItems(to own: EnvironmentList, over base: EnvironmentList) -> UInt64 {
    items.removeAll(keepingCapacity: true)
    var digest: UInt64 = 0
    for variable in own.variables {
      digest &+= FingerprintWriter.digest(of: variable)
      if let place = standard.variableNames.index(of: variable.name) {
        let other = base.variables[place]
        digest &-= FingerprintWriter.digest(of: other)
        if variable.value.text.isSame(as: other.value.text), !variable.value.isLate { continue }
      }
      if variable.value.isLate { lateVariables.append((items.count, variable.value.text)) }
      items.append(builder.item(variable))
    }
    return digest
  }

}

extension PlanBuilder {
  fileprivate mutating func item(_ path: TaskValues.DeclaredPath) -> DeclaredItem {
    var item = DeclaredItem(path.isPattern ? .glob : .path, text: intern(path.text))
    if !path.source.isEmpty { item.words = list([intern(path.source)]) }
    return item
  }

  fileprivate mutating func policy(_ settings: TaskSettings, _ kind: ActionKind) -> TaskPolicy {
    var policy = settings.policy(for: kind)
    let codes = settings.retryCodes(for: kind)
    if !codes.isEmpty { policy.retryCodes = self.codes(codes) }
    return policy
  }

  fileprivate mutating func item(_ variable: EnvironmentList.Variable) -> EnvironmentItem {
    EnvironmentItem(name: intern(variable.name), value: intern(variable.value.text))
  }

  fileprivate mutating func list(_ texts: [ByteView], areCommon: Bool) -> ListIndex {
    if areCommon { return list(texts.map { intern($0) }) }
    if texts.count == 1 { return list(ofOne: append(texts[0])) }
    return list(texts.map { append($0) })
  }

  fileprivate mutating func list(_ words: [Scalar]) -> ListIndex {
    var refs: [TextRef] = []
    refs.reserveCapacity(words.count)
    for word in words { refs.append(intern(word.text)) }
    return list(refs)
  }
}

private struct MentionedFolders: OptionSet {
  let rawValue: Int32
  static let values = MentionedFolders(rawValue: Int32(CYAML_MENTIONS_VALUES))
  static let needs = MentionedFolders(rawValue: Int32(CYAML_MENTIONS_NEEDS))
}

extension ByteView {
  fileprivate var foldersMentioned: MentionedFolders {
    // SAFETY: reads within the text.
    MentionedFolders(rawValue: cyaml_mentioned_folders(start, count))
  }
}

/// Fast for ascending offsets.
struct LineCounter {
  /// Valid as long as its file.
  private let text: ByteView
  private var offset = 0
  private var line: UInt32 = 1

  init(_ text: ByteView) { self.text = text }

  /// Counts from 1.
  mutating func line(of offset: Int) -> UInt32 {
    if offset < self.offset { self = LineCounter(text) }
    let end = min(offset, text.count)
    var count: UInt32 = 0
    for byte in text[self.offset..<end] where byte == 10 { count &+= 1 }
    line &+= count
    self.offset = end
    return line
  }
}
