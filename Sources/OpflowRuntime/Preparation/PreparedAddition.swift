package import OpflowCore
package import OpflowManifest

/// What is to be added to a live run, compiled against its plan as it is at the moment.
package struct PreparedAddition {
  /// How many tasks are new.
  package let taskCount: Int
  /// Their ids, as they are declared.
  package let added: [String]
  private let plan: Plan?
  /// Ids that the run has with the same definition: nothing comes of them.
  package let unchanged: [String]
  package let warnings: [Diagnostic]
  package var request: AddRequest
  /// The ids of all of them, also of those of a matrix.
  package var ids: [String] {
    plan.map { plan in plan.tasks.map { plan.nameString(TaskID($0)) } } ?? []
  }
  private let segment: [UInt8]
  private let source: AddedFolder.Source
  private let kept: KeptFiles
  private let folder: AddedFolder

  /// - Parameters:
  ///   - id: of the order, for this try alone.
  ///   - adder: the task of the run that this process is of; `none` for one from outside.
  /// - Throws: all mistakes of the manifest.
  package init(
    _ manifest: ManifestFile, to run: RunFolder, _ plan: Plan, _ id: OrderID, by adder: TaskID
  ) throws(PreparationError) {
    let compiled = try manifest.compile(
      addedTo: plan, by: adder, runID: run.id.description, state: StateFolder(holding: run))
    try self.init(
      compiled, of: manifest, .manifest(manifest.bytes), to: run, plan, id, by: adder, nil)
  }

  /// The legs of a family of the run, which that task makes.
  package init(
    legsMadeBy maker: TaskID, of run: RunFolder, _ plan: Plan, _ id: OrderID
  ) throws(PreparationError) {
    let found = PatternNames()
    let (manifest, made) = try LegSource(run).compile(maker, of: plan, found)
    try self.init(
      made, of: manifest, .family(plan.nameString(maker)), to: run, plan, id, by: maker, found)
  }

  private init(
    _ compiled: CompiledSegment, of manifest: ManifestFile, _ source: AddedFolder.Source,
    to run: RunFolder, _ plan: Plan, _ id: OrderID, by adder: TaskID, _ found: PatternNames?
  ) throws(PreparationError) {
    self.source = source
    folder = AddedFolder(id, of: run)
    request = AddRequest(
      id: id, planKey: plan.key.description, manifestPath: manifest.realPath,
      folder: manifest.folder)
    request.adder = adder
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

  /// Has the order itself carry what is added, where that is short and names no other file: nothing is written into the
  /// run's folder then, and nothing synced, before the order.
  package mutating func carry() {
    guard case .manifest(let copy) = source, kept.files.isEmpty, taskCount > 0 else { return }
    let carried = CarriedAddition(copy: copy, segment: segment)
    if carried.isShort { request.carried = carried }
  }

  /// Puts it into the run's folder, where the run, and a resume of it, find it.
  package func write() throws(RunFolderError) {
    if request.carried == nil { try folder.write(segment: segment, source, kept) }
  }

  /// It was refused.
  package func remove() { if request.carried == nil { folder.remove() } }
}
