internal import OpflowBase
internal import OpflowEngine
package import OpflowJournal
package import OpflowManifest
internal import OpflowPlan
internal import OpflowSystem

/// A run to be resumed: its manifest, current plan and journal.
package struct ResumedRun {
  let folder: RunFolder
  let manifestPath: String
  let plan: Plan
  /// Sources to write with the plan; nil if the run's plan is current.
  private let sources: (manifest: [UInt8], files: KeptFiles)?
  let environment: [String]
  /// In the journal's format.
  let files: [String]
  let isGrown: Bool
  private let regrown: RegrownPlan?
  /// Additions that the plan lacks, since they will be made again.
  private let dropped: AdditionsToRemake?
  /// Set if the run's folder is a copy: see `RunManifest`.
  let original: RunFolder?
  package let diagnostics: [Diagnostic]
  let warnings: [String]

  let open: OpenEntry
  private let given: ManifestFile?
  private let located: RunManifest
  /// nil if the plan is lost.
  private let last: Plan?
  let set: [String]
  private let kept: KeptFiles
  private let early: (history: RunModel, recovery: JournalRecovery)?

  /// `given` is nil to use the run's own manifest.
  package init(
    _ folder: RunFolder, _ given: ManifestFile?, _ asked: RunRequest
  ) throws(PreparationError) {
    try self.init(folder, given, asked, dropping: nil)
  }

  func without(
    _ additions: AdditionsToRemake, _ asked: RunRequest
  ) throws(PreparationError) -> ResumedRun {
    try ResumedRun(folder, given, asked, dropping: additions)
  }

  private init(
    _ folder: RunFolder, _ given: ManifestFile?, _ asked: RunRequest, dropping: AdditionsToRemake?
  ) throws(PreparationError) {
    let open = try withFolder(folder.readOpen())
    self.open = open
    self.folder = folder
    self.given = given
    dropped = dropping
    // Needed to read the journal; without it, the original manifest is compiled for its names.
    last = try? folder.openPlan()
    var early: (history: RunModel, recovery: JournalRecovery)?
    if let last { early = try Self.read(folder, last) }
    let lastSession =
      if let early {
        early.history
      } else {
        try withFolder(folder.readRunHistory())
      }
    // A cut plan has uncommitted tasks at its end. It is written again, since more may be added.
    let standing = last.flatMap { $0.isCut ? nil : $0 }
    set = Self.set(asked, lastSession.set)
    isGrown = lastSession.taskCount != nil
    var located = RunManifest(open, folder)
    if given == nil, located.isCopy {
      located.takeCopy(of: lastSession.files, from: folder.readKeptFiles())
    }
    self.located = located
    manifestPath = given?.realPath ?? located.realPath
    original = located.original
    var warnings: [String] = []
    var gone = given == nil && located.isGone ? [located.realPath] : []
    if given == nil, let warning = located.warning { warnings.append(warning) }
    // A run with additions is always compiled again: no stored plan tells which additions apply
    // now.
    if !isGrown, let standing, let inputs = given?.inputs(set: set) ?? located.inputs(set: set),
      let current = standing.inputs(ifCurrent: inputs, runID: open.run),
      !standing.mayWarn(asked)
    {
      (plan, sources, regrown, kept) = (standing, nil, nil, KeptFiles())
      (environment, files, diagnostics) = (standing.environmentEntries, current.fileEntries, [])
    } else {
      var manifest = if let given { given } else { try located.read() }
      if given == nil, !asked.watches { try Self.expectTrusted(manifest, located, folder) }
      manifest.mayBeEmpty = open.serves
      kept = folder.readKeptFiles().named(by: lastSession.files)
      manifest.kept = kept
      let compiled = try manifest.compile(
        runID: open.run, set: set, maxParallel: asked.maxParallel,
        state: StateFolder(holding: folder))
      environment = compiled.environmentEntries
      files = FileEntry.texts(compiled.files, from: manifest.folder)
      regrown =
        isGrown
        ? try RegrownPlan(
          compiled, manifest, set: set, of: folder, located, early?.history, dropping: dropping)
        : nil
      diagnostics = compiled.warnings + (regrown?.warnings ?? [])
      gone += regrown?.gone ?? []
      gone += compiled.furtherFiles.map(\.path).filter { !Path.exists($0) }
        .map { KeptFiles.relative($0, to: manifest.folder) }
      if regrown == nil, let standing, standing.key == compiled.planKey {
        (plan, sources) = (standing, nil)
      } else {
        plan = if let regrown { regrown.plan } else { try compiled.openPlan() }
        sources = (
          manifest.bytes, Self.filesToKeep(of: manifest, compiled, beside: kept, in: folder)
        )
        early = nil
      }
    }
    if !gone.isEmpty {
      warnings.append(
        "some files are missing; opflow uses the copies of the last session:"
          + " \(CleanText.list(gone))")
    }
    self.warnings = warnings
    self.early = early
  }

  /// The journal names the manifest, not the user: no other user may have changed it.
  private static func expectTrusted(
    _ manifest: ManifestFile, _ located: RunManifest, _ folder: RunFolder
  ) throws(PreparationError) {
    guard !located.isCopy, let foreign = TrustedWriters.own.doubt(located.realPath),
      manifest.bytes != (try? folder.readManifest())
    else { return }
    throw .folder(.foreignManifest(foreign, path: located.realPath))
  }

  func manifest() throws(PreparationError) -> ManifestFile {
    var manifest = if let given { given } else { try located.read() }
    manifest.mayBeEmpty = open.serves
    manifest.kept = kept
    return manifest
  }

  /// Stores a changed plan and its sources before the journal names them (`KeptFiles`).
  func write() throws(RunFolderError) {
    guard let sources else { return }
    try folder.replace(sources.files)
    try folder.replace(manifest: sources.manifest)
    try folder.write(plan: plan.copyOfBytes, hasRoom: plan.hasRoom)
  }

  private static func filesToKeep(
    of manifest: ManifestFile, _ compiled: CompiledManifest, beside kept: KeptFiles,
    in folder: RunFolder
  ) -> KeptFiles {
    var files = kept
    for file in compiled.furtherFiles { files.add(file.path, file.bytes, from: manifest.folder) }
    if let old = try? folder.readManifest(), old != manifest.bytes {
      files.add(manifest.realPath, old, from: manifest.folder)
    }
    return files
  }

  var withoutInstances: Set<String> { regrown?.withoutInstances ?? [] }

  var additions: [AdditionsToRemake.Addition] { regrown?.additions ?? [] }

  var droppedRequests: Set<String> {
    (dropped?.requests ?? []).union(regrown?.withoutRequests ?? [])
  }

  /// Files to copy to the run's folder; empty for an unchanged plan, which was checked before.
  var copies: [WrittenSecrets.Copy] {
    sources.map { [(manifestPath, $0.manifest)] + $0.files.named } ?? []
  }

  func read() throws(PreparationError) -> (history: RunModel, recovery: JournalRecovery) {
    let known = if let early { early } else { try Self.read(folder, plan) }
    guard known.history.hasAbsoluteFingerprints else { return known }
    // An older opflow wrote fingerprints that depend on the manifest's folder.
    let earlier = try manifest().compileAsBefore(runID: open.run, set: set, folder: open.folder)
    return try Self.read(folder, plan, earlier: earlier)
  }

  func addsAnew(_ name: String) -> Bool {
    if dropped?.names.contains(name) == true { return true }
    guard !withoutInstances.isEmpty, let last, let task = last.task(named: name),
      let matrixGroup = last.matrixGroup(of: task)
    else { return false }
    return withoutInstances.contains(last.matrixGroupName(matrixGroup))
  }

  var renamed: RenamedMatrixGroups? {
    guard let last, last.key != plan.key, !last.matrixGroups.isEmpty else { return nil }
    let renamed = RenamedMatrixGroups(from: last, to: plan)
    return renamed.matrixGroups.isEmpty ? nil : renamed
  }

  var added: TaskSet? {
    guard let last, last.key != plan.key else { return nil }
    let renamed = renamed
    var added: TaskSet?
    for index in plan.tasks where last.task(named: plan.nameBytes(TaskID(index))) == nil {
      if let renamed, renamed.contains(plan.nameString(TaskID(index))) { continue }
      added = added ?? TaskSet(taskCount: plan.taskCount)
      added?.insert(TaskID(index))
    }
    return added
  }

  /// `run --resume` selected the run by its `--set`, which may be empty.
  static func set(_ asked: RunRequest, _ recorded: [String]) -> [String] {
    asked.resumesNewest || !asked.set.isEmpty ? asked.set : recorded
  }

  private static func read(
    _ folder: RunFolder, _ plan: Plan, earlier: Plan? = nil
  ) throws(PreparationError) -> (history: RunModel, recovery: JournalRecovery) {
    try withFolder(folder.readHistory(plan: plan, absolutePlan: earlier))
  }
}

/// The place of a run's manifest: its old path, or the same path relative to a moved or copied
/// state folder, or else the copy in the run's folder.
package struct RunManifest {
  /// The path that the plan uses; `-` for standard input.
  package let realPath: String
  let folder: String
  let source: String
  /// The contents, if they are not in `source`.
  private var copy: [UInt8]?
  /// The manifest is neither at its old path nor beside the state folder.
  let isGone: Bool
  /// The original of a copied run; it may be live.
  let original: RunFolder?
  private let open: OpenEntry
  /// nil if the state folder was not moved.
  private let movedState: String?
  let warning: String?

  package init(_ open: OpenEntry, _ run: RunFolder) {
    let state = Path.parent(of: Path.parent(of: run.path))
    let isMoved = Self.isMoved(from: open.stateFolder, to: state)
    self.open = open
    movedState = isMoved ? state : nil
    let isFile = open.manifestPath != ManifestFile.standardInput
    let recorded = isFile ? try? Path.real(open.manifestPath) : nil
    let moved = isMoved && isFile ? try? Path.real(open.moved(open.manifestPath, to: state)) : nil
    let old = RunFolder(id: run.id, path: "\(open.stateFolder)/runs/\(run.id)")
    original = isMoved && Path.isDirectory(old.path) ? old : nil

    isGone = isFile && moved == nil && recorded == nil
    if let found = moved ?? recorded {
      realPath = found
      folder = Path.parent(of: found)
      source = found
      if let recorded, let moved, recorded != moved {
        warning =
          "the state folder was moved: opflow uses \(CleanText.string(moved)), not"
          + " \(CleanText.string(recorded)), with which the run began and which still exists"
      } else {
        warning = nil
      }
      return
    }
    realPath = open.manifestPath
    let movedFolder = isMoved ? try? Path.real(open.moved(open.folder, to: state)) : nil
    folder = movedFolder.flatMap { Path.isDirectory($0) ? $0 : nil } ?? open.folder
    source = run.manifest
    warning = nil
  }

  /// Another name of the same folder is not a move.
  private static func isMoved(from old: String, to new: String) -> Bool {
    guard !old.isEmpty, old != new else { return false }
    guard let was = try? Path.status(old), let now = try? Path.status(new) else { return true }
    return was.identity != now.identity
  }

  /// Returns the current path of another file of the run.
  func place(of path: String) -> String {
    guard let movedState, path.hasPrefix("/") else { return path }
    let moved = open.moved(path, to: movedState)
    return Path.exists(moved) ? moved : path
  }

  var isCopy: Bool { source != realPath }

  /// Uses the manifest of the last session if a killed resume has left another one.
  mutating func takeCopy(of lastSession: [String], from kept: KeptFiles) {
    guard let root = lastSession.first, let hash = try? FileHash.planKey(source),
      hash.description != FileEntry.hash(root)
    else { return }
    copy = kept.named(by: [root]).files.first?.bytes
  }

  func read() throws(PreparationError) -> ManifestFile {
    if !isCopy {
      // The path was recorded, not given by the user: it may now be a link to a device.
      guard let file = try? Path.status(realPath), file.kind != .file else {
        return try ManifestFile(at: realPath)
      }
      throw .unreadable(manifest: open.manifestPath, .notRegular)
    }
    do throws(Errno) {
      let bytes =
        if let copy { copy } else { try File.readRegular(source, atMost: ManifestFile.mostBytes) }
      return ManifestFile(
        bytes: bytes, displayPath: source, realPath: realPath, folder: folder)
    } catch {
      throw .folder(.file(doing: "read", path: source, error))
    }
  }

  /// The known inputs of the plan. The manifest, which may be large and unchanged, is only hashed.
  func inputs(set: [String]) -> PlanInputs? {
    guard let hash = try? copy.map(Hash.planKey) ?? FileHash.planKey(source) else { return nil }
    var inputs = PlanInputs(opflowVersion: Version.text, folder: folder)
    inputs.set = set
    inputs.files = [PlanFile(path: realPath, realPath: realPath, content: hash)]
    return inputs
  }
}
