internal import OpflowCore
internal import OpflowManifest
internal import OpflowSystem

/// The legs that a task of a run made in an earlier drive, made anew of their family as it is declared now, and of what
/// the task read then.
struct LegsBefore {
  /// The run's.
  let manifest: ManifestFile
  /// Variables that it is compiled with.
  let set: [String]
  /// That it names besides itself: these are as they are now.
  let files: Set<String>
  let entry: ExtendEntry
  let run: RunFolder
  /// Where the run's files are now.
  let located: RunManifest

  /// Nil where the task makes none any more, or has to make others: what is declared now does not go with what was
  /// read.
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

  /// What was added holds as it was.
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

  /// A path among copies, absolute.
  private func place(_ path: String) -> String {
    path.hasPrefix("/") ? path : "\(manifest.folder)/\(path)"
  }
}
