internal import OpflowJournal
internal import OpflowManifest
internal import OpflowPlan
internal import OpflowSystem

/// Compiles matrix tasks of an earlier session again, from the current declaration and the files
/// that the generator read then.
struct LegsBefore {
  let manifest: ManifestFile
  /// From `--set`.
  let set: [String]
  /// Read as they are now.
  let files: Set<String>
  let entry: ExtendEntry
  let run: RunFolder
  let located: RunManifest

  /// nil if the task no longer generates, or must generate again because the current declaration
  /// does not fit what was read.
  func compile(_ task: String, in plan: Plan) -> CompiledManifest? {
    guard let maker = plan.task(named: task), plan.makesLegs(maker) else { return nil }
    let made =
      maker.index < plan.firstTaskCount
      ? compileOfRun(maker, in: plan) : compileOfAddition(maker, in: plan)
    return made?.added
  }

  private func compileOfRun(_ maker: TaskID, in plan: Plan) -> CompiledSegment? {
    var manifest = manifest
    let read = AddedFolder(entry.id, of: run).readKeptFiles()
    for file in read.files where !files.contains(place(file.path)) { manifest.copies.add(file) }
    return compile(manifest, maker, in: plan, set: set)
  }

  /// Additions do not change: they are compiled from their copies.
  private func compileOfAddition(_ maker: TaskID, in plan: Plan) -> CompiledSegment? {
    let read = AddedFolder(entry.id, of: run).readKeptFiles()
    let added = (try? LegSource.additions(of: run, plan)) ?? []
    for addition in added {
      guard
        var manifest = try? AddedFolder(addition.id, of: run).manifestFile(addition, located)
      else { continue }
      manifest.copies = read
      for file in manifest.kept.files { manifest.copies.add(file) }
      if let made = compile(manifest, maker, in: plan, set: []) { return made }
    }
    return nil
  }

  private func compile(
    _ manifest: ManifestFile, _ maker: TaskID, in plan: Plan, set: [String]
  ) -> CompiledSegment? {
    try? manifest.compileLegs(
      madeBy: maker, of: plan, runID: run.id.description, set: set,
      state: StateFolder(holding: run))
  }

  private func place(_ path: String) -> String {
    path.hasPrefix("/") ? path : "\(manifest.folder)/\(path)"
  }
}
