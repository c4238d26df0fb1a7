/// A manifest while it is read: what stands at the top of its files, then its tasks, one after the
/// other. Everything wrong is reported on the way.
struct ManifestReading: ~Copyable {
  let manifest: ManifestValues
  private let parts: [ManifestPart]
  private let declared: TaskDeclarations
  private var resolver: NeedResolver
  private var written: WrittenPathCheck
  /// Texts of what stands at the top.
  private let kept: TextStore
  private let mistakes: Mistakes

  /// Nil, with the mistake reported, when there is nothing to read.
  init?(
    _ loader: PartLoader, _ source: ManifestSource, _ options: CompileOptions, _ mistakes: Mistakes
  ) {
    guard let manifest = loader.load() else { return nil }
    let parts = loader.parts
    let tasks = Self.declaredTasks(of: parts, mistakes)
    resolver = NeedResolver(
      mistakes: mistakes, suggestions: parts[0].values.scope.suggestions, taskCount: tasks.count,
      nodeCount: parts.reduce(0) { $0 + $1.document.nodeCount })
    resolver.knowsAll = !loader.isIncomplete
    written = WrittenPathCheck(
      mistakes: mistakes, stateFolder: options.stateFolder, readLink: options.readLink)
    written.note(loader.sources[0], at: source.path)
    for case (_, let file?) in loader.further.read { written.note(named: file.realPath) }
    declared = tasks
    kept = loader.kept
    self.manifest = manifest
    self.parts = parts
    self.mistakes = mistakes
  }

  /// Tasks that included files may declare, in all.
  private static let mostTasks = 5_000_000

  private static func declaredTasks(
    of parts: [ManifestPart], _ mistakes: Mistakes
  ) -> TaskDeclarations {
    var tasks = TaskDeclarations()
    for part in parts {
      if let entry = part.entry, tasks.count > mostTasks {
        mistakes.error(entry, "with this file there are more than \(mostTasks) tasks")
        break
      }
      DeclarationReader(values: part.values)
        .readTasks(of: part.file, prefix: part.prefix, into: &tasks)
    }
    return tasks
  }

  var taskCount: Int { declared.count }
  var needs: NeedList { resolver.needs }
  /// Absolute and normal.
  var folder: Text { parts[0].folder }
  var nodeCount: Int { parts.reduce(0) { $0 + $1.document.nodeCount } }
  var byteCount: Int { parts.reduce(0) { $0 + $1.document.source.count } }
  var inherited: InheritedEnvironment { parts[0].values.scope.inherited }
  var secrets: SecretScope { parts[0].values.scope.secrets }
  var hasSecrets: Bool { !manifest.secrets.isEmpty || secrets.listed.count > 0 }
  var sawRunID: Bool { parts.contains { $0.values.scope.sawRunID } }

  /// Reads all tasks, in the order of their numbers, and checks what is checked of all together.
  ///
  /// - Parameter body: gets each task, the number of its part, where it stands, and what the tasks of
  ///   its part start from.
  mutating func forEachTask(
    _ body: (borrowing TaskValues, _ part: Int, Place, TaskDefaults) -> Void
  ) {
    var number = 0
    for (index, part) in parts.enumerated() {
      var reader = taskReader(of: part)
      var task = TaskValues(reader.defaults)
      while number < declared.count, declared.part(number) == index {
        reader.read(declared.key(number), name: declared.name(number), into: &task)
        resolver.add(&task, number, of: declared)
        written.note(task, in: part.document)
        body(task, index, part.document.place(task.key), reader.defaults)
        number += 1
      }
    }
    resolver.checkFinally(declared)
    written.check()
  }

  private func taskReader(of part: ManifestPart) -> TaskReader {
    let standard = TaskDefaults(
      settings: TaskSettings(
        shell: CommandReader.scalars(ShellName.standard, part.document.root, kept),
        directory: Directory(path: part.folder, stable: part.folder)),
      lists: TaskLists(environment: part.environment))
    return TaskReader(
      SettingsReader(part.values, folder: part.folder, resources: manifest.resources),
      defaults: part.file.keys[.defaults], over: standard)
  }

  /// Reports tasks that need each other, once all are read.
  func reportCycles() { resolver.reportCycles(declared) }
}
