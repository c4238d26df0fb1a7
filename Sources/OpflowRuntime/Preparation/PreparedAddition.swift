internal import OpflowBase
package import OpflowManifest
package import OpflowPlan
package import OpflowWire

/// An addition to a live run, compiled against its current plan.
package struct PreparedAddition {
  /// Of the new tasks.
  package let taskCount: Int
  /// IDs as declared.
  package let added: [String]
  private let plan: Plan?
  /// The run has these with the same definition.
  package let unchanged: [String]
  package let warnings: [Diagnostic]
  package var request: AddRequest
  /// Of all new tasks, including matrix tasks.
  package var ids: [String] {
    plan.map { plan in plan.tasks.map { plan.nameString(TaskID($0)) } } ?? []
  }
  private let segment: [UInt8]
  private let source: AddedFolder.Source
  private let kept: KeptFiles
  private let folder: AddedFolder

  /// `id` is for this attempt only. `adder` is the task of the run that contains this process, or
  /// `none`.
  package init(
    _ manifest: ManifestFile, to run: RunFolder, _ plan: Plan, _ id: OrderID, by adder: TaskID
  ) throws(PreparationError) {
    let compiled = try manifest.compile(
      addedTo: plan, by: adder, runID: run.id.description, state: StateFolder(holding: run))
    try self.init(
      compiled, of: manifest, .manifest(manifest.bytes), to: run, plan, id, by: adder, nil)
  }

  /// The matrix tasks that `maker` generates.
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

  /// Embeds a short addition without further files in the request, which saves writing and syncing
  /// files.
  package mutating func carry() {
    guard case .manifest(let copy) = source, kept.files.isEmpty, taskCount > 0 else { return }
    let carried = CarriedAddition(copy: copy, segment: segment)
    if carried.isShort { request.carried = carried }
  }

  /// For the run and for a resume.
  package func write() throws(RunFolderError) {
    if request.carried == nil { try folder.write(segment: segment, source, kept) }
  }

  /// After a refusal.
  package func remove() { if request.carried == nil { folder.remove() } }
}
