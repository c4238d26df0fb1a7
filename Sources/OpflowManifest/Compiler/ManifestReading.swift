/// A manifest while it is read: what its files declare, what stands at its top, then its tasks, one
/// after the other. Everything wrong is reported on the way.
struct ManifestReading: ~Copyable {
  let document: YAMLDocument
  let scope: NameScope
  /// Absolute and normal.
  let folder: Text
  let manifest: ManifestValues
  private let declared: TaskDeclarations
  private var reader: TaskReader
  private var resolver: NeedResolver
  private var written: WrittenPathCheck
  /// Texts of what stands at the top.
  private let kept: TextStore

  /// Nil, with the mistake reported, when there is nothing to read.
  init?(
    _ file: SourceFile, _ source: ManifestSource, _ options: CompileOptions, _ mistakes: Mistakes
  ) {
    guard let document = SyntaxMistakes.read(file, mistakes) else { return nil }
    let scope = NameScope(runID: options.runID, inheritedEnvironment: options.environment)
    let kept = TextStore()
    let values = ValueReader(
      document: document, mistakes: mistakes, scope: scope, tables: SchemaTables(), scratch: kept)
    let declarer = DeclarationReader(values: values)
    guard let declaration = declarer.readFile() else { return nil }
    var tasks = TaskDeclarations()
    declarer.readTasks(of: declaration, into: &tasks)

    var manifest = ManifestValues(
      name: source.defaultName,
      resources: ResourceTable(
        cpu: UInt64(options.cores), memory: options.memoryBytes, store: scope.store))
    TopLevelReader(values, set: options.variables, wantedParallel: options.maxParallel)
      .read(declaration.keys, into: &manifest)

    let folder = PathText.absolute(
      kept.copy(source.folder), from: kept.copy("/"), store: kept)
    let standard = TaskDefaults(
      settings: TaskSettings(
        shell: CommandReader.scalars(ShellName.standard, document.root, kept),
        directory: Directory(path: folder, stable: folder)),
      lists: TaskLists(environment: manifest.environment))
    reader = TaskReader(
      SettingsReader(values, folder: folder, resources: manifest.resources),
      defaults: declaration.keys[.defaults], over: standard)
    resolver = NeedResolver(
      mistakes: mistakes, suggestions: scope.suggestions, taskCount: tasks.count,
      nodeCount: document.nodeCount)
    written = WrittenPathCheck(
      mistakes: mistakes, stateFolder: options.stateFolder, readLink: options.readLink)
    written.note(file, at: source.path)
    declared = tasks
    self.document = document
    self.scope = scope
    self.folder = folder
    self.manifest = manifest
    self.kept = kept
  }

  var taskCount: Int { declared.count }
  var needs: NeedList { resolver.needs }
  var defaults: TaskDefaults { reader.defaults }

  /// Reads all tasks, in the order of their numbers, and checks what is checked of all together.
  ///
  /// - Parameter body: gets each task, and the document that it stands in.
  mutating func forEachTask(_ body: (borrowing TaskValues, YAMLDocument) -> Void) {
    var task = TaskValues(reader.defaults)
    for number in 0..<declared.count {
      reader.read(declared.key(number), into: &task)
      resolver.add(task, number, of: declared)
      written.note(task, in: document)
      body(task, document)
    }
    resolver.checkFinally(declared)
    written.check()
  }

  /// Reports tasks that need each other, once all are read.
  func reportCycles() { resolver.reportCycles(declared) }
}
