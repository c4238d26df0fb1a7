internal import OpflowCore
package import OpflowManifest
internal import OpflowSystem

/// A run that is to be resumed, as it is found: where its manifest is, the plan that this gives now,
/// and what its journal says.
package struct ResumedRun {
  let folder: RunFolder
  let manifestPath: String
  let plan: Plan
  /// Of the plan file to be written; empty where the plan is the run's last one.
  let planBytes: [UInt8]
  let environment: [String]
  /// The files that the plan was compiled from, as the journal keeps them.
  let files: [String]
  /// The run's folder is a copy: see `RunManifest`.
  let original: RunFolder?
  /// Of the manifest.
  package let diagnostics: [Diagnostic]
  let warnings: [String]

  private let open: OpenEntry
  private let given: ManifestFile?
  private let located: RunManifest
  /// The plan that the run had; nil where it is lost.
  private let last: Plan?
  let set: [String]
  private let early: (history: RunModel, recovery: JournalRecovery)?

  /// - Parameter given: the manifest, where the caller has read it; else it is looked for where the run
  ///   says.
  package init(
    _ folder: RunFolder, _ given: ManifestFile?, _ asked: RunRequest
  ) throws(PreparationError) {
    let open = try withFolder { () throws(RunFolderError) in try folder.readOpen() }
    self.open = open
    self.folder = folder
    self.given = given
    located = RunManifest(open, folder)
    manifestPath = given?.realPath ?? located.realPath
    original = located.original
    warnings = given == nil ? [located.warning].compactMap { $0 } : []
    // The plan that the run had serves to read its journal. Without it the manifest is compiled as
    // it was at the start, which gives the names.
    last = try? folder.openPlan()
    var early: (history: RunModel, recovery: JournalRecovery)?
    if let last { early = try Self.read(folder, last) }
    set = Self.set(asked, early?.history.set ?? open.set)
    if let last, let inputs = given?.inputs(set: set) ?? located.inputs(set: set),
      let current = last.inputs(ifCurrent: inputs, runID: open.run),
      !last.mayWarn(SchedulerOptions(asked, last).capacities(of: last))
    {
      (plan, planBytes, environment, diagnostics) = (last, [], last.environmentEntries, [])
      files = current.fileEntries
    } else {
      var manifest = if let given { given } else { try located.read() }
      manifest.kept = folder.readKeptFiles()
      let compiled = try manifest.compile(
        runID: open.run, set: set, maxParallel: asked.maxParallel,
        state: StateFolder(holding: folder))
      environment = compiled.environmentEntries
      files = FileEntry.texts(compiled.files, from: manifest.folder)
      diagnostics = compiled.warnings
      if let last, last.key == compiled.planKey {
        (plan, planBytes) = (last, [])
      } else {
        planBytes = compiled.planBytes
        plan = try compiled.openPlan()
        early = nil
      }
    }
    self.early = early
  }

  func manifest() throws(PreparationError) -> ManifestFile {
    if let given { given } else { try located.read() }
  }

  /// What the journal says of the tasks of the plan.
  func read() throws(PreparationError) -> (history: RunModel, recovery: JournalRecovery) {
    let known = if let early { early } else { try Self.read(folder, plan) }
    guard known.history.hasAbsoluteFingerprints else { return known }
    // An older opflow wrote them, of the folder that the manifest was in.
    let earlier = try manifest().compileAsBefore(runID: open.run, set: set, folder: open.folder)
    return try Self.read(folder, plan, earlier: earlier)
  }

  /// Families whose legs have other ids than in the run's last plan; nil for none.
  var renamed: RenamedFamilies? {
    guard let last, last.key != plan.key, !last.families.isEmpty else { return nil }
    let renamed = RenamedFamilies(from: last, to: plan)
    return renamed.families.isEmpty ? nil : renamed
  }

  /// Tasks that the plan has and the run's last one had not; nil for none.
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

  /// The run that `run --resume` continues was looked for by its `--set`, also where that is none.
  static func set(_ asked: RunRequest, _ recorded: [String]) -> [String] {
    asked.resumesNewest || !asked.set.isEmpty ? asked.set : recorded
  }

  private static func read(
    _ folder: RunFolder, _ plan: Plan, earlier: Plan? = nil
  ) throws(PreparationError) -> (history: RunModel, recovery: JournalRecovery) {
    try withFolder { () throws(RunFolderError) in
      try folder.readHistory(plan: plan, absolutePlan: earlier)
    }
  }
}
