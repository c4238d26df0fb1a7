internal import OpflowBase
internal import OpflowJournal
package import OpflowManifest
package import OpflowPlan
internal import OpflowSystem
package import OpflowWire

/// An addition to a live run, compiled against its current plan.
package struct PreparedAddition {
  package let taskCount: Int
  package let added: [String]
  private let plan: Plan?
  /// The run has these tasks with the same definition.
  package let unchanged: [String]
  package let warnings: [Diagnostic]
  package var request: AddRequest
  /// IDs of all new tasks, including matrix tasks.
  package var ids: [String] {
    plan.map { plan in plan.tasks.map { plan.nameString(TaskID($0)) } } ?? []
  }
  private let segment: [UInt8]
  private let source: AddedFolder.Source
  private let kept: KeptFiles
  private let folder: AddedFolder

  /// `id` is for this attempt only. `generator` is the run's task that contains this process, or
  /// `none`.
  package init(
    _ manifest: ManifestFile, to run: RunFolder, _ plan: Plan, _ id: RequestID, by generator: TaskID
  ) throws(PreparationError) {
    let compiled = try manifest.compile(
      addedTo: plan, by: generator, runID: run.id.description, state: StateFolder(holding: run))
    try self.init(
      compiled, of: manifest, .manifest(manifest.bytes), to: run, plan, id, by: generator, nil)
  }

  package init(
    instancesMadeBy maker: TaskID, of run: RunFolder, _ plan: Plan, _ id: RequestID
  ) throws(PreparationError) {
    let found = PatternNames()
    let (manifest, made) = try InstanceSource(run).compile(maker, of: plan, found)
    try self.init(
      made, of: manifest, .matrixGroup(plan.nameString(maker)), to: run, plan, id, by: maker, found)
  }

  private init(
    _ compiled: CompiledSegment, of manifest: ManifestFile, _ source: AddedFolder.Source,
    to run: RunFolder, _ plan: Plan, _ id: RequestID, by generator: TaskID, _ found: PatternNames?
  ) throws(PreparationError) {
    self.source = source
    folder = AddedFolder(id, of: run)
    request = AddRequest(
      id: id, planKey: plan.key.description, manifestPath: manifest.realPath,
      folder: manifest.folder)
    request.generator = generator
    unchanged = compiled.unchanged
    guard let new = compiled.added else {
      (taskCount, added, warnings, segment, kept) = (0, [], [], [], KeptFiles())
      self.plan = nil
      return
    }
    let names = try new.openPlan()
    self.plan = names
    taskCount = names.taskCount
    added = Array(names.foldedNames)
    warnings = new.warnings
    segment = new.planBytes
    request.files = FileEntry.texts(new.files, from: manifest.folder)
    var kept = KeptFiles()
    for file in new.furtherFiles { kept.add(file.path, file.bytes, from: manifest.folder) }
    for names in found?.all ?? [] { kept.add(names) }
    self.kept = kept
  }

  /// Embeds a short addition without further files in the request, which saves writing and syncing.
  package mutating func carry() {
    guard case .manifest(let copy) = source, kept.files.isEmpty, taskCount > 0 else { return }
    let carried = CarriedAddition(copy: copy, segment: segment)
    if carried.isShort { request.carried = carried }
  }

  package func write() throws(RunFolderError) {
    if request.carried == nil { try folder.write(segment: segment, source, kept) }
  }

  package func remove() { if request.carried == nil { folder.remove() } }
}

/// The run's manifest, or the addition, that declares a matrix with generated tasks.
struct InstanceSource {
  private let folder: RunFolder
  private let open: OpenEntry

  init(_ folder: RunFolder) throws(PreparationError) {
    self.folder = folder
    open = try withFolder(folder.readOpen())
  }

  func compile(
    _ maker: TaskID, of plan: Plan, _ found: PatternNames
  ) throws(PreparationError) -> (ManifestFile, CompiledSegment) {
    let state = StateFolder(holding: folder)
    if maker.index < plan.firstTaskCount {
      let history = try withFolder(folder.readRunHistory())
      var manifest = try root(history)
      manifest.foundNames = found
      if let made = try manifest.compileInstances(
        madeBy: maker, of: plan, runID: open.run, set: history.set, state: state)
      {
        return (manifest, made)
      }
    }
    // The same file may have been added several times.
    for entry in try Self.additions(of: folder, plan) {
      let added = AddedFolder(entry.id, of: folder)
      var manifest = try added.manifestFile(entry, RunManifest(open, folder))
      manifest.copies = manifest.kept
      manifest.foundNames = found
      if let made = try manifest.compileInstances(
        madeBy: maker, of: plan, runID: open.run, set: [], state: state)
      {
        return (manifest, made)
      }
    }
    throw .noInstanceSource(plan.nameString(maker))
  }

  static func additions(
    of folder: RunFolder, _ plan: Plan
  ) throws(PreparationError) -> [ExtendEntry] {
    let history = try withFolder(folder.readHistory(plan: plan).history)
    return history.extensions.reversed().filter { !AddedFolder($0.id, of: folder).isOfInstances }
  }

  /// Reads the manifest as it was when the plan was compiled.
  private func root(_ history: RunModel) throws(PreparationError) -> ManifestFile {
    let located = RunManifest(open, folder)
    do throws(Errno) {
      let name = Path.name(located.realPath)
      var manifest = ManifestFile(
        bytes: try folder.readManifest(), displayPath: name, realPath: located.realPath,
        folder: located.folder)
      manifest.mayBeEmpty = open.serves
      manifest.copies = folder.readKeptFiles().named(by: history.files)
      return manifest
    } catch {
      throw .folder(.file(doing: "read", path: folder.manifest, error))
    }
  }
}

extension AddedFolder {
  func manifestFile(
    _ entry: ExtendEntry, _ located: RunManifest
  ) throws(PreparationError) -> ManifestFile {
    if !entry.copy.isEmpty {
      return ManifestFile(
        bytes: Array(entry.copy.utf8), displayPath: "<added \(entry.id.text)>",
        realPath: located.place(of: entry.manifestPath), folder: located.place(of: entry.folder))
    }
    do throws(Errno) {
      var file = ManifestFile(
        bytes: try File.readRegular(manifest, atMost: ManifestFile.mostBytes),
        displayPath: manifest, realPath: located.place(of: entry.manifestPath),
        folder: located.place(of: entry.folder))
      file.kept = readKeptFiles()
      return file
    } catch {
      throw .folder(.file(doing: "read", path: manifest, error))
    }
  }
}
