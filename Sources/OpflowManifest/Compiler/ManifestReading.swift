internal import OpflowPlan

struct ManifestReading: ~Copyable {
  let manifest: ManifestValues
  let tasks: TaskList
  let sources: ReadSources
  let instanceTexts = MatrixTexts()
  /// The folder of the run's first manifest; absolute and normalized.
  let folder: ByteView
  private let parts: [IncludedFile]
  private var resolver: NeedResolver
  private var written: WrittenPathCheck
  private var unordered: UnorderedFiles
  /// Owns texts of top-level keys.
  private let kept: TextStore
  private let instanceStore = TextStore()
  private let diagnostics: Diagnostics
  private var declaresFiles = false

  init?(
    _ loader: FileLoader, _ source: ManifestSource, _ options: CompileOptions,
    _ diagnostics: Diagnostics
  ) {
    guard let manifest = loader.load() else { return nil }
    if let run = loader.run, run.plan.taskCount > Self.mostTasksOfRun {
      diagnostics.error(
        loader.root.place(0), "a run can have at most \(Self.mostTasksOfRun) tasks",
        help: "start a new run")
      return nil
    }
    let parts = loader.parts
    let included = loader.further.read
    let matrixFiles = MatrixFiles(
      loader.further, root: (parts[0].folder, source.displayFolder), diagnostics, store: loader.kept
    )
    sources = ReadSources(
      store: loader.kept, file: { matrixFiles.open($0, in: $1) }, names: options.fileNames)
    folder = loader.run.map { $0.plan.text($0.plan.manifest.folder) } ?? parts[0].folder
    let all = Self.declaredTasks(of: parts, diagnostics, mayBeEmpty: options.mayBeEmpty)
    let declared =
      if let matrixGroup = loader.run?.matrixGroup {
        all.filtered { $0.isSame(as: matrixGroup) }
      } else { all.without(loader.run?.unchanged ?? []) }
    tasks = Self.tasks(of: parts, declared, sources, instanceTexts, loader.run)
    resolver = NeedResolver(
      tasks, texts: instanceTexts, diagnostics: diagnostics,
      suggestions: parts[0].values.scope.suggestions,
      nodeCount: parts.reduce(0) { $0 + $1.document.nodeCount })
    resolver.knowsAll = !loader.isIncomplete
    let links = LinkResolver(readLink: options.readLink)
    written = WrittenPathCheck(
      diagnostics: diagnostics, folder: folder, stateFolder: options.stateFolder, links: links)
    written.note(loader.root, at: source.path)
    for case (_, let file?) in included { written.note(named: file.realPath) }
    if let run = loader.run?.plan, let first = run.files.first.map(run.string),
      first.utf8.first == UInt8(ascii: "/")
    {
      written.note(named: first)
    }
    let files = [source.path] + included.compactMap { $0.1?.realPath }
    unordered = UnorderedFiles(
      diagnostics: diagnostics, links: links,
      manifestFiles: files.filter { $0.utf8.first == UInt8(ascii: "/") })
    kept = loader.kept
    self.manifest = manifest
    self.parts = parts
    self.diagnostics = diagnostics
  }

  private static let mostTasks = 5_000_000
  /// Beyond this number, an addition could overflow task numbers.
  private static let mostTasksOfRun = 1_500_000_000

  private static func declaredTasks(
    of parts: [IncludedFile], _ diagnostics: Diagnostics, mayBeEmpty: Bool
  ) -> TaskDeclarations {
    var tasks = TaskDeclarations()
    for part in parts {
      if let entry = part.entry, tasks.count > mostTasks {
        diagnostics.error(entry, "with this file, the manifest has more than \(mostTasks) tasks")
        break
      }
      DeclarationReader(values: part.values)
        .readTasks(
          of: part.file, prefix: part.prefix, mayBeEmpty: mayBeEmpty && part.entry == nil,
          into: &tasks)
    }
    return tasks
  }

  private static func tasks(
    of parts: [IncludedFile], _ declared: TaskDeclarations, _ sources: ReadSources,
    _ texts: MatrixTexts, _ run: RunTasks?
  ) -> TaskList {
    var matrixGroups: [(declaration: Int, matrixGroup: MatrixGroup)] = []
    var room = MatrixGroup.mostInstances
    var next = 0
    for (index, part) in parts.enumerated() where part.document.hasMatrix {
      while next < declared.count, declared.part(next) < index { next += 1 }
      let first = next
      while next < declared.count, declared.part(next) == index { next += 1 }
      var reader = MatrixGroupReader(
        part.values, sources, texts, folder: part.folder, makesInstances: run?.matrixGroup != nil)
      matrixGroups += reader.read(declared, in: first..<next, room: &room)
    }
    return TaskList(declared, matrixGroups: matrixGroups, run: run)
  }

  var taskCount: Int { tasks.count }
  var needs: NeedList { resolver.needs }
  var readsOfInstances: [(task: Int, decides: Bool)] { resolver.readsOfInstances }
  var nodeCount: Int { parts.reduce(0) { $0 + $1.document.nodeCount } }
  var byteCount: Int { parts.reduce(0) { $0 + $1.document.source.count } }
  var inherited: InheritedEnvironment { parts[0].values.scope.inherited }
  var secrets: SecretScope { parts[0].values.scope.secrets }
  var sawRunID: Bool { parts.contains { $0.values.scope.sawRunID } }

  /// Reads all tasks in order, then checks them together.
  ///
  /// - Parameter body: Receives a task, the number of its part, its place, the defaults of the
  ///   part, and the number of tasks of its matrix that follow.
  mutating func forEachTask(
    _ body: (borrowing TaskValues, _ part: Int, Place, TaskDefaults, _ instancesLeft: Int) -> Void
  ) {
    let declared = tasks.declared
    var declaration = 0
    for (index, part) in parts.enumerated() {
      let reader = taskReader(of: part)
      var task = TaskValues(reader.defaults)
      let defaults = reader.defaults
      for variable in defaults.lists.environment.variables { part.values.noteSet(variable) }
      while declaration < declared.count, declared.part(declaration) == index {
        if let matrixGroup = tasks.matrixGroup(of: declaration) {
          var instancesLeft = matrixGroup.taskCount
          readMatrixGroup(matrixGroup, declaration, part, reader, &task) { task in
            instancesLeft -= 1
            body(task, index, part.document.place(task.key), defaults, instancesLeft)
          }
        } else {
          reader.read(declared.key(declaration), name: declared.name(declaration), into: &task)
          let number = tasks.tasks(of: declaration).lowerBound
          resolver.add(&task, number, declaration)
          if task.declaresFiles { noteFiles(of: task, number, in: part.document) }
          body(task, index, part.document.place(task.key), defaults, 0)
        }
        declaration += 1
      }
    }
    resolver.check(manifest.resources)
    noteFilesOfRun()
    written.check()
    unordered.check(resolver.needs, tasks)
  }

  private mutating func noteFiles(
    of task: borrowing TaskValues, _ number: Int, in document: YAMLDocument
  ) {
    declaresFiles = true
    note(DeclaredFiles(task, number, in: document))
  }

  private mutating func note(_ files: DeclaredFiles) {
    written.note(files)
    unordered.note(files)
  }

  /// Skips tasks that the manifest declares again.
  private mutating func noteFilesOfRun() {
    guard declaresFiles, let run = tasks.run, run.plan.declaresFiles else { return }
    let scratch = TextStore()
    for index in run.plan.tasks {
      let task = TaskID(index)
      guard run.plan.declaresOutputs(task) || run.plan.isChecked(task),
        tasks.declared.index(of: run.declaredName(task)) == nil
      else { continue }
      scratch.removeAll()
      note(DeclaredFiles(task, tasks.number(ofRun: task), of: run, store: scratch))
    }
  }

  private mutating func readMatrixGroup(
    _ matrixGroup: MatrixGroup, _ declaration: Int, _ part: IncludedFile, _ reader: TaskReader,
    _ task: inout TaskValues, _ body: (borrowing TaskValues) -> Void
  ) {
    let key = tasks.declared.key(declaration)
    let name = tasks.declared.name(declaration)
    let first = tasks.tasks(of: declaration).lowerBound
    let scope = part.values.scope
    reader.checkName(name, at: key)
    scope.matrix = MatrixScope(names: matrixGroup.names)
    defer { scope.matrix = MatrixScope() }
    if matrixGroup.emptiness == .later {
      readBeforeInstances(matrixGroup, key, name, part, reader, &task)
      let reads = task.valueReads
      InstanceMaker.turn(
        &task, reading: matrixGroup.laterSources, folder: part.folder,
        hasOwnFate: !part.values.decidesByInstance(key), instanceStore)
      resolver.addMaker(&task, first, declaration, matrixGroup, reads)
      body(task)
      return
    }
    if matrixGroup.ids.isEmpty {
      readWithoutInstances(key, name, scope, reader, &task)
      resolver.add(&task, first, declaration)
      body(task)
      return
    }
    let texts = instanceTexts
    let cells = InstanceCells(matrixGroup, part.document, texts, diagnostics)
    let findCells = cells.map { cells in { cells.find(at: $0) } }
    for (instance, id) in matrixGroup.ids.enumerated() {
      scope.matrix.setValues(matrixGroup.values(of: instance).lazy.map { texts[$0] })
      cells?.instance = instance
      diagnostics.beginInstance(id, of: part.document.place(key), cells: findCells)
      reader.read(key, as: id, into: &task)
      if let maker = tasks.run?.maker { task.flags.takeFromMaker(maker) }
      resolver.add(&task, first + instance, declaration, instance: instance)
      if task.declaresFiles { noteFiles(of: task, first + instance, in: part.document) }
      body(task)
    }
    diagnostics.endInstances()
  }

  /// Reads one skipped task. Reports errors only if the task does not use values of the matrix.
  private func readWithoutInstances(
    _ key: Node, _ name: ByteView, _ scope: NameScope, _ reader: TaskReader,
    _ task: inout TaskValues
  ) {
    scope.sawMatrix = false
    diagnostics.mute()
    reader.read(key, as: name, into: &task)
    diagnostics.unmute()
    if !scope.sawMatrix { reader.read(key, as: name, into: &task) }
    task.flags.formUnion([.conditionFalse, .emptyMatrix])
    task.written.removeAll()
    task.inputs.removeAll()
    task.hasInputs = false
  }

  /// Drops errors that may depend on values that are not known yet.
  private func readBeforeInstances(
    _ matrixGroup: MatrixGroup, _ key: Node, _ name: ByteView, _ part: IncludedFile,
    _ reader: TaskReader, _ task: inout TaskValues
  ) {
    if !matrixGroup.knowsNames { part.values.scope.matrix = .ofAnyNames }
    diagnostics.sparing({ [document = part.document] place in
      place.file == document.file.number && document.speaksOfMatrix(at: place.offset)
    }) { reader.read(key, as: name, into: &task) }
    // `InstanceMaker.turn` drops these keys, so they are checked here.
    instanceStore.removeAll()
    let help =
      "move the `matrix` to a task that is not `finally`, not `interactive` and not a service"
    if task.flags.contains(.finally) {
      diagnostics.error(
        part.document.place(key),
        "`\(name.string)` is `finally`, and its `matrix` has `after`: when `finally` tasks run, "
          + "opflow adds no more tasks to a run", help: help)
    } else if task.service != nil {
      diagnostics.error(
        part.document.place(key),
        "`\(name.string)` is a service, and its `matrix` has `after`: a service must be known when "
          + "the run starts", help: help)
    } else if task.flags.contains(.interactive) {
      diagnostics.error(
        part.document.place(key),
        "`\(name.string)` is `interactive`, and its `matrix` has `after`: an `interactive` task "
          + "must be known when the run starts", help: help)
    }
  }

  private func taskReader(of part: IncludedFile) -> TaskReader {
    let standard = TaskDefaults(
      settings: TaskSettings(
        shell: CommandReader.scalars(ShellName.standard, part.document.root, kept),
        directory: Directory(path: part.folder, stable: part.folder)),
      lists: TaskLists(environment: part.environment))
    return TaskReader(
      SettingsReader(part.values, folder: part.folder, resources: manifest.resources),
      defaults: part.file.keys[.defaults], over: standard)
  }

  /// Must be called after all tasks are read.
  func reportCycles() { resolver.reportCycles() }
}
