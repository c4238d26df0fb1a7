internal import OpflowCore
internal import OpflowManifest
internal import OpflowSystem

/// The plan of a run to which tasks were added, made anew: of its manifest as it is now, and of each addition from
/// its copy in the run's folder, in their order, as if it were added to what is there by then.
///
/// They are bound by ids: what edits of the manifest do to numbers says nothing. Where one does not fit any more,
/// that is a mistake with its place in the copy.
struct RegrownPlan {
  let plan: Plan
  private(set) var warnings: [Diagnostic] = []
  /// Files that additions name, and that are gone: taken as they were when they were added.
  private(set) var gone: [String] = []

  /// - Parameters:
  ///   - first: the run's manifest.
  ///   - folder: that this is in.
  ///   - located: where the run's files are now.
  ///   - history: what the journal tells, of whatever plan; nil where it was not read.
  init(
    _ first: CompiledManifest, in folder: String, of run: RunFolder, _ located: RunManifest,
    _ history: RunModel?
  ) throws(PreparationError) {
    var grown = GrownPlan(try first.openPlan())
    let known =
      if let history { history } else {
        try withFolder { () throws(RunFolderError) in
          try run.readHistory(plan: grown.plan).history
        }
      }
    for addition in known.additions {
      let manifest = try Self.manifest(addition.entry, of: run, located)
      let segment = try manifest.compile(
        addedTo: grown.plan, by: try Self.adder(addition.adder, in: grown.plan, manifest),
        runID: run.id.description, state: StateFolder(holding: run))
      guard let added = segment.added else { continue }
      warnings += added.warnings
      gone += added.furtherFiles.map(\.path).filter { !Path.exists($0) }
        .map { KeptFiles.relative($0, to: folder) }
      let part = try added.openPlan()
      do throws(GrownPlanError) {
        try grown.add(part)
      } catch {
        throw .unfitAddition(error)
      }
    }
    do throws(PlanError) {
      self.plan = try grown.keyed()
    } catch {
      throw .unsoundPlan(error)
    }
  }

  /// The copy of what was added.
  private static func manifest(
    _ entry: ExtendEntry, of run: RunFolder, _ located: RunManifest
  ) throws(PreparationError) -> ManifestFile {
    let added = AddedFolder(entry.id, of: run)
    do throws(Errno) {
      var manifest = ManifestFile(
        bytes: try added.readManifest(), displayPath: added.manifest,
        realPath: located.place(of: entry.manifestPath),
        folder: located.place(of: entry.folder))
      manifest.kept = added.readKeptFiles()
      return manifest
    } catch {
      throw .folder(.file(doing: "read", path: added.manifest, error))
    }
  }

  private static func adder(
    _ name: String?, in plan: Plan, _ manifest: ManifestFile
  ) throws(PreparationError) -> TaskID {
    guard let name else { return .none }
    if let task = plan.task(named: name) { return task }
    let mistake = Diagnostic(
      severity: .error, file: manifest.displayPath, line: 1, column: 1,
      message: "unknown task `\(name)`, which added this to the run",
      help: "put it back into the manifest that the run began with, or begin a new run",
      sourceLine: String(
        decoding: manifest.bytes.prefix { $0 != Field.lineFeed }.prefix(100), as: UTF8.self))
    throw .mistakes(ManifestError(diagnostics: [mistake], errorCount: 1))
  }
}
