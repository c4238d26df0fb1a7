internal import OpflowJournal
internal import OpflowManifest
internal import OpflowPlan
internal import OpflowSystem

/// The run's manifest, or the addition, that declares a matrix whose tasks are generated while the
/// run is live.
struct LegSource {
  private let folder: RunFolder
  private let open: OpenEntry

  init(_ folder: RunFolder) throws(PreparationError) {
    self.folder = folder
    open = try withFolder { () throws(RunFolderError) in try folder.readOpen() }
  }

  /// `found` receives the names that match patterns.
  func compile(
    _ maker: TaskID, of plan: Plan, _ found: PatternNames
  ) throws(PreparationError) -> (ManifestFile, CompiledSegment) {
    let state = StateFolder(holding: folder)
    if maker.index < plan.firstTaskCount {
      let history = try withFolder { () throws(RunFolderError) in try folder.readRunHistory() }
      var manifest = try root(history)
      manifest.foundNames = found
      if let made = try manifest.compileLegs(
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
      if let made = try manifest.compileLegs(
        madeBy: maker, of: plan, runID: open.run, set: [], state: state)
      {
        return (manifest, made)
      }
    }
    throw .noLegSource(plan.nameString(maker))
  }

  static func additions(
    of folder: RunFolder, _ plan: Plan
  ) throws(PreparationError) -> [ExtendEntry] {
    let history = try withFolder { () throws(RunFolderError) in
      try folder.readHistory(plan: plan).history
    }
    return history.extensions.reversed().filter { !AddedFolder($0.id, of: folder).isOfLegs }
  }

  /// As of the plan's compilation.
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
