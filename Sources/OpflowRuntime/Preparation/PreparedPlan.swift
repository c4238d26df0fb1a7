internal import OpflowBase
internal import OpflowEngine
package import OpflowManifest
package import OpflowPlan
internal import OpflowSystem
internal import OpflowWorker

/// The plan for the current manifest: of an earlier run with the same inputs, or compiled now.
struct PreparedPlan {
  let key: PlanKey
  let taskCount: Int
  let hasManual: Bool
  let hasInteractive: Bool
  let concurrency: RunConcurrency
  /// In the journal's format, as are the files.
  let environment: [String]
  let files: [String]
  let warnings: [Diagnostic]
  private var source: Source
  /// For a compiled plan.
  private var kept = KeptFiles()
  private var compiledHasSecrets = false

  private enum Source {
    case compiled([UInt8], hasRunID: Bool)
    /// Before there is a run.
    case opened(Plan, hasRunID: Bool)
    case earlier(Plan, of: RunFolder)
  }

  init(
    _ manifest: ManifestFile, _ state: StateFolder, runID: String, _ request: RunRequest
  ) throws(PreparationError) {
    let inputs = manifest.inputs(set: request.set)
    var found: PlanInputs?
    let earlier = state.plan(ofManifest: manifest.realPath) { plan in
      // An empty plan is that of a run that stays open.
      if plan.taskCount == 0, !manifest.mayBeEmpty { return false }
      found = plan.inputs(ifCurrent: inputs, runID: runID)
      return found != nil
    }
    if let (plan, run) = earlier, let found,
      !plan.mayWarn(SchedulerOptions(request, plan).capacities(of: plan))
    {
      key = plan.key
      taskCount = plan.taskCount
      hasManual = plan.hasManual
      hasInteractive = plan.hasInteractive
      concurrency = plan.concurrency
      environment = plan.environmentEntries
      files = found.fileEntries
      warnings = []
      source = .earlier(plan, of: run)
      return
    }
    let compiled = try manifest.compile(
      runID: runID, set: request.set, maxParallel: request.maxParallel, state: state)
    key = compiled.planKey
    taskCount = compiled.taskCount
    hasManual = compiled.hasManual
    hasInteractive = compiled.hasInteractive
    concurrency = compiled.concurrency
    environment = compiled.environmentEntries
    files = FileEntry.texts(compiled.files, from: manifest.folder)
    for file in compiled.furtherFiles { kept.add(file.path, file.bytes, from: manifest.folder) }
    warnings = compiled.warnings
    compiledHasSecrets = compiled.hasSecrets
    source = .compiled(compiled.planBytes, hasRunID: compiled.usesRunID)
  }

  var hasSecrets: Bool {
    switch source {
    case .compiled: compiledHasSecrets
    case .opened(let plan, _), .earlier(let plan, _): plan.hasSecrets
    }
  }

  /// The plan contains the run's ID, so that other runs cannot share it.
  var isOfOneRun: Bool {
    switch source {
    case .compiled(_, let hasRunID), .opened(_, let hasRunID): hasRunID
    case .earlier: false
    }
  }

  mutating func open() throws(PreparationError) -> Plan {
    switch source {
    case .compiled(let bytes, let hasRunID):
      let plan = try CompiledManifest.openPlan(bytes)
      source = .opened(plan, hasRunID: hasRunID)
      return plan
    case .opened(let plan, _), .earlier(let plan, _): return plan
    }
  }

  var copies: [WrittenSecrets.Copy] {
    guard case .earlier(let plan, let run) = source else { return kept.named }
    return plan.hasFurtherFiles ? run.readKeptFiles().named : []
  }

  private var bytes: [UInt8] {
    switch source {
    case .compiled(let bytes, _): bytes
    case .opened(let plan, _), .earlier(let plan, _): plan.copyOfBytes
    }
  }

  /// Writes or links the plan, and frees compiled bytes.
  mutating func place(in folder: RunFolder) throws(RunFolderError) -> Plan {
    switch source {
    case .compiled, .opened:
      try folder.write(kept)
      kept = KeptFiles()
      try folder.write(plan: bytes)
      let plan = try folder.openPlan(verifyingChecksum: false)
      source = .earlier(plan, of: folder)
      return plan
    case .earlier(let plan, let run):
      if plan.hasFurtherFiles { try folder.shareKeptFiles(of: run) }
      try folder.share(plan, of: run)
      return plan
    }
  }
}

extension Plan {
  /// Returns all inputs if compiling now would give this plan.
  func inputs(ifCurrent inputs: PlanInputs, runID: String) -> PlanInputs? {
    self.inputs(
      ifCurrent: inputs, runID: runID, file: FurtherFile.planFile,
      names: { pattern, folder in try? FileNames.texts(fitting: pattern, in: folder).get() },
      variable: Environment.value)
  }
}

extension CompiledManifest {
  var environmentEntries: [String] { EnvironmentEntry.texts(environmentRead) }

  package func openPlan() throws(PreparationError) -> Plan { try Self.openPlan(planBytes) }

  /// An error is a bug in opflow.
  fileprivate static func openPlan(_ bytes: [UInt8]) throws(PreparationError) -> Plan {
    do throws(PlanError) {
      let plan = try Plan(copying: bytes)
      try plan.validate()
      return plan
    } catch {
      throw .unsoundPlan(error)
    }
  }
}

extension Plan {
  var environmentEntries: [String] {
    EnvironmentEntry.texts(environmentRead(Environment.value))
  }
}

extension PlanInputs {
  var fileEntries: [String] { FileEntry.texts(files, from: folder) }
}

/// The journal has the hashes of variables, not their values.
private enum EnvironmentEntry {
  static func texts(_ variables: [(name: String, value: String?)]) -> [String] {
    variables.map { name, value in
      let hash = value.map { Hexadecimal.text(Hash.xxh3(Array($0.utf8))) } ?? "-"
      return "\(name)=\(hash)"
    }
  }
}
