internal import OpflowBase
internal import OpflowJournal
internal import OpflowManifest
internal import OpflowPlan
internal import OpflowSystem

/// The plan of a run with additions, compiled again from the current manifest and the copy of each
/// addition, in order.
///
/// References use task IDs, so an edit of the manifest may change numbers. An addition that no
/// longer fits is an error with its place in the copy.
struct RegrownPlan {
  let plan: Plan
  private(set) var warnings: [Diagnostic] = []
  /// Missing files of additions, for which the old contents are used.
  private(set) var gone: [String] = []
  /// Generators that must generate their matrix tasks again.
  private(set) var withoutInstances: Set<String> = []
  /// The requests that added the tasks of these generators. Later resumes ignore them.
  private(set) var withoutRequests: [String] = []
  /// Additions by `opflow add` in tasks, in its order.
  private(set) var additions: [AdditionsToRemake.Addition] = []

  /// `history` was replayed with any plan, or is nil. The additions of `dropping` will be made
  /// again.
  init(
    _ first: CompiledManifest, _ manifest: ManifestFile, set: [String], of run: RunFolder,
    _ located: RunManifest, _ history: RunModel?, dropping: AdditionsToRemake?
  ) throws(PreparationError) {
    let folder = manifest.folder
    var grown = GrownPlan(try first.openPlan())
    let known =
      if let history { history } else {
        try withFolder(run.readHistory(plan: grown.plan).history)
      }
    let files = Set(first.furtherFiles.map(\.path))
    let newest = Self.newestInstances(known.standingAdditions, of: run)
    var hasInstances: Set<String> = []
    for addition in known.standingAdditions {
      if AddedFolder(addition.entry.id, of: run).isOfInstances {
        // Compiled in the place of the first addition, so that later additions may depend on the
        // tasks.
        guard let maker = addition.generator, let newest = newest[maker],
          hasInstances.insert(maker).inserted
        else { continue }
        let source = InstancesBefore(
          manifest: manifest, set: set, files: files, entry: newest, run: run, located: located)
        guard dropping?.makers.contains(maker) != true,
          let added = source.compile(maker, in: grown.plan)
        else {
          withoutInstances.insert(maker)
          continue
        }
        try Self.add(added, to: &grown)
        continue
      }
      let request = addition.entry.id.text
      if dropping?.requests.contains(request) == true { continue }
      let manifest = try AddedFolder(addition.entry.id, of: run).manifestFile(
        addition.entry, located)
      let generator = try Self.generator(addition.generator, in: grown.plan, manifest)
      let segment = try manifest.compile(
        addedTo: grown.plan, by: generator,
        runID: run.id.description, state: StateFolder(holding: run))
      guard let added = segment.added else { continue }
      warnings += added.warnings
      gone += added.furtherFiles.map(\.path).filter { !Path.exists($0) }
        .map { KeptFiles.relative($0, to: folder) }
      let first = grown.plan.taskCount
      try Self.add(added, to: &grown)
      if generator.isNone { continue }
      additions.append(
        AdditionsToRemake.Addition(
          request: request, generator: generator, tasks: first..<grown.plan.taskCount))
    }
    for addition in known.standingAdditions {
      guard let maker = addition.generator, withoutInstances.contains(maker),
        AddedFolder(addition.entry.id, of: run).isOfInstances
      else { continue }
      withoutRequests.append(addition.entry.id.text)
    }
    self.plan = try rethrowing(grown.keyed()) { PreparationError.unsoundPlan($0) }
  }

  private static func add(
    _ added: CompiledManifest, to grown: inout GrownPlan
  ) throws(PreparationError) {
    let part = try added.openPlan()
    try rethrowing(grown.add(part)) { PreparationError.unfitAddition($0) }
  }

  private static func newestInstances(
    _ additions: [GrowthRecord], of run: RunFolder
  ) -> [String: ExtendEntry] {
    var newest: [String: ExtendEntry] = [:]
    for addition in additions where AddedFolder(addition.entry.id, of: run).isOfInstances {
      if let maker = addition.generator { newest[maker] = addition.entry }
    }
    return newest
  }

  private static func generator(
    _ name: String?, in plan: Plan, _ manifest: ManifestFile
  ) throws(PreparationError) -> TaskID {
    guard let name else { return .none }
    if let task = plan.task(named: name) { return task }
    let problem = Diagnostic(
      severity: .error, file: manifest.displayPath, line: 1, column: 1,
      message: "unknown task `\(name)`, which added these tasks to the run",
      help: "put it back into the manifest that the run began with, or start a new run",
      sourceLine: String(
        decoding: manifest.bytes.prefix { $0 != Field.lineFeed }.prefix(100), as: UTF8.self))
    throw .diagnostics(ManifestError(diagnostics: [problem], errorCount: 1))
  }
}

/// Compiles matrix tasks of an earlier session again, from the current declaration and the files
/// that the generator read.
struct InstancesBefore {
  let manifest: ManifestFile
  let set: [String]
  /// Files to read in their current state.
  let files: Set<String>
  let entry: ExtendEntry
  let run: RunFolder
  let located: RunManifest

  /// Returns nil if the task no longer generates, or must generate again since the declaration does
  /// not fit the files.
  func compile(_ task: String, in plan: Plan) -> CompiledManifest? {
    guard let maker = plan.task(named: task), plan.makesInstances(maker) else { return nil }
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
    let added = (try? InstanceSource.additions(of: run, plan)) ?? []
    for addition in added {
      guard var manifest = try? AddedFolder(addition.id, of: run).manifestFile(addition, located)
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
    try? manifest.compileInstances(
      madeBy: maker, of: plan, runID: run.id.description, set: set,
      state: StateFolder(holding: run))
  }

  private func place(_ path: String) -> String {
    path.hasPrefix("/") ? path : "\(manifest.folder)/\(path)"
  }
}
