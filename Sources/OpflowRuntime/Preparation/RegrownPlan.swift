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
  init(
    _ first: CompiledManifest, in folder: String, of run: RunFolder, _ open: OpenEntry
  ) throws(PreparationError) {
    var grown = GrownPlan(try first.openPlan())
    let plan = grown.plan
    let extensions = try withFolder { () throws(RunFolderError) in
      try run.withJournal { bytes throws(JournalError) in
        try JournalReader.extensions(bytes, plan: plan)
      }
    }
    for (entry, adder) in extensions {
      let manifest = try Self.manifest(entry, of: run, moved: (open.folder, folder))
      let segment = try manifest.compile(
        addedTo: grown.plan, by: try Self.adder(adder, in: grown.plan, manifest),
        runID: open.run, state: StateFolder(holding: run))
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
  ///
  /// - Parameter moved: the folder of the run's manifest as it was then, and as it is now.
  private static func manifest(
    _ entry: ExtendEntry, of run: RunFolder, moved: (from: String, to: String)
  ) throws(PreparationError) -> ManifestFile {
    let added = AddedFolder(entry.id, of: run)
    func place(_ path: String) -> String {
      let start = moved.from.hasSuffix("/") ? moved.from : moved.from + "/"
      if moved.from == moved.to { return path }
      if path == moved.from { return moved.to }
      return path.hasPrefix(start) ? "\(moved.to)/\(path.dropFirst(start.count))" : path
    }
    do throws(Errno) {
      var manifest = ManifestFile(
        bytes: try added.readManifest(), displayPath: added.manifest,
        realPath: place(entry.manifestPath), folder: place(entry.folder))
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
