internal import OpflowCore

/// Reads a document into a plan: the top-level keys first, wherever they stand, then the tasks in
/// their order. Everything wrong is reported on the way; what is wrong is left out or gets a
/// default, so that reading goes on.
///
/// What is called for each task is `mutating` whether it changes anything or not: the compiler lends
/// the reader to any other method as a copy of its 1,328 bytes.
struct ManifestReader: ~Copyable {
  let document: YAMLDocument
  let mistakes: Mistakes
  let scope: NameScope
  let maps: MapReader
  let values: ValueReader
  let options: CompileOptions
  let source: ManifestSource
  let tables = SchemaTables()

  var builder: PlanBuilder
  var name: String
  var description = TextRef.empty
  var maxParallel: UInt32 = 0
  var maxFailures: UInt32 = 1
  var resources: ResourceTable
  /// Top-level `env`.
  var environment = EnvironmentList()
  /// What every task starts from.
  var defaults: TaskSettings
  /// The lists that its own are merged over.
  var lists = TaskLists()
  /// Where `defaults` stand, when they speak of `task.id` and so differ from task to task.
  var defaultsByTask: Node?
  /// What `defaults` are read over.
  var defaultsBase: TaskSettings
  /// `source.folder`, normalised.
  let folderPath: Text
  /// The demands of a task that says nothing about resources, by kind of action.
  var standardDemand: (command: UInt32, download: UInt32) = (0, 0)
  /// The rules of a task that says nothing about them.
  var standardPolicy: (command: UInt32, download: UInt32) = (0, 0)
  var lastPolicy: (policy: TaskPolicy, index: UInt32)?

  var tasks: Entries
  var needs = NeedList()
  /// For each task, the last one that said it needs it.
  var needStamps: [Int32] = []
  var finallyTasks: [Bool] = []
  var writtenPaths = WrittenPaths()
  let links: LinkResolver
  var lines = LineCounter()
  /// Reused from task to task, as is the list.
  var hasher: FingerprintHasher
  var environmentItems: [EnvironmentItem] = []
  /// Reused from map to map.
  var environmentEntries: Entries

  init(
    document: YAMLDocument, mistakes: Mistakes, source: ManifestSource, options: CompileOptions
  ) {
    self.document = document
    self.mistakes = mistakes
    self.source = source
    self.options = options
    links = LinkResolver(readLink: options.readLink)
    scope = NameScope(runID: options.runID, inheritedEnvironment: options.environment)
    maps = MapReader(document: document, mistakes: mistakes)
    values = ValueReader(
      document: document, mistakes: mistakes, scope: scope, scratch: TextStore())
    name = source.defaultName
    builder = PlanBuilder(keeps: options.wantsPlan)
    hasher = FingerprintHasher(isIdle: !options.wantsPlan)
    environmentEntries = Entries(document: document)
    resources = ResourceTable(
      cpu: UInt64(options.cores), memory: options.memoryBytes, store: scope.store)
    tasks = Entries(document: document)
    var words: [TextRef] = []
    for word in ShellName.standard { words.append(builder.intern(word)) }
    let standardDigest = Digest.list(ShellName.standard.map(scope.store.copy))
    folderPath = PathText.absolute(
      scope.store.copy(source.folder), from: scope.store.copy("/"), store: scope.store)
    defaults = TaskSettings(
      shell: ShellWords(list: builder.list(words), digest: standardDigest),
      directory: Directory(
        path: folderPath, stable: folderPath, ref: builder.intern(folderPath)))
    defaultsBase = defaults
  }

  mutating func read() {
    guard document.kind(document.root) == .mapping else {
      reportNoMap()
      return
    }
    let fields = maps.fields(document.root, tables.manifest, owner: ManifestKey.owner) {
      $0.hasPrefix("x-")
    }
    readVersion(fields)
    readVariables(fields[.vars])
    readEnvironment(fields[.env])
    scope.position = .top
    readTopLevel(fields)
    readResources(fields)
    scope.position = .task
    readDefaults(fields[.defaults])
    if let include = fields.key(.include) { readInclude(include) }
    noteManifest()
    readTasks(fields)
    checkWritten()
  }

  /// Lays the plan out; nil, with all mistakes reported, when there are any.
  consuming func finish(key: PlanKey) -> [UInt8]? {
    guard options.wantsPlan else {
      reportCycles()
      return mistakes.errorCount == 0 ? [] : nil
    }
    for task in 0..<needs.count {
      for edge in needs.edges(of: task) {
        builder.addNeed(TaskID(needs.targets[edge]), on: needs.conditions[edge])
      }
      builder.endNeeds()
    }
    builder.resources = resources.entries { builder.intern($0) }
    builder.readsEnvironment(scope.environmentRead.map(\.name))
    var manifest = ManifestEntry(
      name: builder.intern(name), description: description,
      folder: builder.intern(source.folder), maxParallel: maxParallel, maxFailures: maxFailures,
      usesRunID: scope.sawRunID)
    manifest.hasWarnings = mistakes.all.isEmpty ? 0 : 1
    let report = CycleReport(needs: needs, tasks: tasks, file: document.file)
    let mistakes = mistakes
    switch builder.finish(manifest: manifest, key: key) {
    case .plan(let bytes): return mistakes.errorCount == 0 ? bytes : nil
    case .cycle:
      report.report(to: mistakes)
      return nil
    }
  }

  /// Looks for tasks that need each other without laying a plan out.
  private func reportCycles() {
    guard !needs.allPointBack, needs.hasCycle else { return }
    CycleReport(needs: needs, tasks: tasks, file: document.file).report(to: mistakes)
  }

  private func reportNoMap() {
    let node = document.root
    let isNothing = values.describe(node) == "empty"
    mistakes.error(
      isNothing ? document.file.place(0) : document.place(node),
      isNothing
        ? "the manifest is empty" : "the manifest must be a map, not \(values.describe(node))",
      help: isNothing
        ? "declare at least one task under `tasks`" : "begin with a key, such as `tasks:`")
  }
}

/// The tables of known keys, made once a compilation.
struct SchemaTables {
  let manifest = KeyTable<ManifestKey>()
  let task = KeyTable<TaskKey>()
  let defaults = KeyTable<DefaultsKey>()
  let retry = KeyTable<RetryKey>()
  let stop = KeyTable<StopKey>()
  let need = KeyTable<NeedKey>()
  let download = KeyTable<DownloadKey>()
}
