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
  /// Tasks that made legs which the plan is without: they make them anew.
  private(set) var withoutLegs: Set<String> = []
  /// What tasks gave to `opflow add`, in its order.
  private(set) var additions: [AdditionsToRemake.Addition] = []

  /// - Parameters:
  ///   - first: the run's manifest.
  ///   - manifest: the same, not compiled.
  ///   - set: variables that it is compiled with.
  ///   - located: where the run's files are now.
  ///   - history: what the journal tells, of whatever plan; nil where it was not read.
  ///   - dropping: what is not to be in the plan, since it is added anew.
  init(
    _ first: CompiledManifest, _ manifest: ManifestFile, set: [String], of run: RunFolder,
    _ located: RunManifest, _ history: RunModel?, dropping: AdditionsToRemake?
  ) throws(PreparationError) {
    let folder = manifest.folder
    var grown = GrownPlan(try first.openPlan())
    let known =
      if let history { history } else {
        try withFolder { () throws(RunFolderError) in
          try run.readHistory(plan: grown.plan).history
        }
      }
    let files = Set(first.furtherFiles.map(\.path))
    let newest = Self.newestLegs(known.standingAdditions, of: run)
    var hasLegs: Set<String> = []
    for addition in known.standingAdditions {
      if AddedFolder(addition.entry.id, of: run).isOfLegs {
        // They stand where the first ones did, so that what was added behind those may need them.
        guard let maker = addition.adder, let newest = newest[maker], hasLegs.insert(maker).inserted
        else { continue }
        let source = LegsBefore(
          manifest: manifest, set: set, files: files, entry: newest, run: run, located: located)
        guard dropping?.makers.contains(maker) != true,
          let added = source.compile(maker, in: grown.plan)
        else {
          withoutLegs.insert(maker)
          continue
        }
        try Self.add(added, to: &grown)
        continue
      }
      let order = addition.entry.id.text
      if dropping?.orders.contains(order) == true { continue }
      let manifest = try AddedFolder(addition.entry.id, of: run).manifestFile(
        addition.entry, located)
      let adder = try Self.adder(addition.adder, in: grown.plan, manifest)
      let segment = try manifest.compile(
        addedTo: grown.plan, by: adder,
        runID: run.id.description, state: StateFolder(holding: run))
      guard let added = segment.added else { continue }
      warnings += added.warnings
      gone += added.furtherFiles.map(\.path).filter { !Path.exists($0) }
        .map { KeptFiles.relative($0, to: folder) }
      let first = grown.plan.taskCount
      try Self.add(added, to: &grown)
      if adder.isNone { continue }
      additions.append(
        AdditionsToRemake.Addition(
          order: order, adder: adder, tasks: first..<grown.plan.taskCount))
    }
    do throws(PlanError) {
      self.plan = try grown.keyed()
    } catch {
      throw .unsoundPlan(error)
    }
  }

  private static func add(
    _ added: CompiledManifest, to grown: inout GrownPlan
  ) throws(PreparationError) {
    let part = try added.openPlan()
    do throws(GrownPlanError) {
      try grown.add(part)
    } catch {
      throw .unfitAddition(error)
    }
  }

  /// By the task that made legs, what was last added of them.
  private static func newestLegs(
    _ additions: [GrowthRecord], of run: RunFolder
  ) -> [String: ExtendEntry] {
    var newest: [String: ExtendEntry] = [:]
    for addition in additions where AddedFolder(addition.entry.id, of: run).isOfLegs {
      if let maker = addition.adder { newest[maker] = addition.entry }
    }
    return newest
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
