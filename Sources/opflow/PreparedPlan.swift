import OpflowCommandLine
import OpflowCore
import OpflowManifest
import OpflowRuntime
import OpflowSystem

/// The plan that a manifest gives now: that of an earlier run which was compiled from the same, else
/// one that was just compiled.
struct PreparedPlan {
  let key: PlanKey
  let taskCount: Int
  /// What expressions read of the environment, as the journal keeps it.
  let environment: [String]
  private var source: Source

  private enum Source {
    case compiled([UInt8], hasRunID: Bool)
    /// Compiled, and used before there is a run.
    case opened(Plan, hasRunID: Bool)
    case earlier(Plan, of: RunFolder)
  }

  /// - Throws: all mistakes of the manifest, with exit code 3. Warnings are shown.
  init(
    _ manifest: ManifestFile, _ state: StateFolder, runID: String, _ arguments: Invocation,
    _ console: Console
  ) throws(CommandError) {
    let inputs = manifest.inputs(set: arguments.set)
    let earlier = state.plan(ofManifest: manifest.realPath) { plan in
      plan.isCurrent(inputs, runID: runID)
    }
    if let (plan, run) = earlier,
      !plan.mayWarn(SchedulerOptions(arguments, plan).capacities(of: plan))
    {
      key = plan.key
      taskCount = plan.taskCount
      environment = plan.environmentEntries
      source = .earlier(plan, of: run)
      return
    }
    let compiled = try manifest.compile(
      runID: runID, set: arguments.set, maxParallel: arguments.maxParallel, console: console,
      state: state)
    console.show(compiled.warnings)
    key = compiled.planKey
    taskCount = compiled.taskCount
    environment = compiled.environmentEntries
    source = .compiled(compiled.planBytes, hasRunID: compiled.usesRunID)
  }

  /// Whether it serves only the run that it was made for.
  var isOfOneRun: Bool {
    switch source {
    case .compiled(_, let hasRunID), .opened(_, let hasRunID): hasRunID
    case .earlier: false
    }
  }

  /// The plan, before there is a run.
  mutating func open() throws(CommandError) -> Plan {
    switch source {
    case .compiled(let bytes, let hasRunID):
      let plan = try CompiledPlan.open(bytes)
      source = .opened(plan, hasRunID: hasRunID)
      return plan
    case .opened(let plan, _), .earlier(let plan, _): return plan
    }
  }

  private var bytes: [UInt8] {
    switch source {
    case .compiled(let bytes, _): bytes
    case .opened(let plan, _), .earlier(let plan, _): plan.copyOfBytes
    }
  }

  /// Makes it the plan of a new run, and lets go of the bytes of one that was compiled.
  mutating func place(in folder: RunFolder) throws(RunFolderError) -> Plan {
    switch source {
    case .compiled, .opened:
      try folder.write(plan: bytes)
      let plan = try folder.openPlan(verifyingChecksum: false)
      source = .earlier(plan, of: folder)
      return plan
    case .earlier(let plan, let run):
      try folder.share(plan, of: run)
      return plan
    }
  }
}

extension ManifestFile {
  /// What a plan of it is compiled from, as far as it is known before the manifest is read.
  func inputs(set: [String]) -> PlanInputs {
    source.inputs(opflowVersion: Version.text, set: set)
  }
}

extension Plan {
  /// Whether compiling what `inputs` name would give this very plan.
  func isCurrent(_ inputs: PlanInputs, runID: String) -> Bool {
    isCurrent(
      inputs, runID: runID, hash: { path in try? FileHash.planKey(path) },
      variable: Environment.value)
  }
}

/// A plan that was just compiled, which can only be wrong by a mistake of ours.
enum CompiledPlan {
  static func open(_ bytes: [UInt8]) throws(CommandError) -> Plan {
    do throws(PlanError) {
      let plan = try Plan(copying: bytes)
      try plan.validate()
      return plan
    } catch {
      throw CommandError(.internal, "the plan that was compiled is not sound: \(error.message)")
    }
  }
}

extension CompiledManifest {
  var environmentEntries: [String] { EnvironmentEntry.texts(environmentRead) }
}

extension Plan {
  var environmentEntries: [String] {
    EnvironmentEntry.texts(environmentRead(Environment.value))
  }
}

/// What expressions read of the environment, as the journal keeps it: no value, only its hash.
private enum EnvironmentEntry {
  static func texts(_ variables: [(name: String, value: String?)]) -> [String] {
    variables.map { name, value in
      let hash = value.map { Hexadecimal.text(Hash.xxh3(Array($0.utf8))) } ?? "-"
      return "\(name)=\(hash)"
    }
  }
}
