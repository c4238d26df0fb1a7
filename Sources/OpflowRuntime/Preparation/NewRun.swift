internal import OpflowBase
package import OpflowEngine
package import OpflowJournal
package import OpflowManifest
package import OpflowPlan
internal import OpflowSystem
internal import OpflowWire
internal import OpflowWorker

/// A run that is about to begin, before its folder exists.
package struct NewRun {
  private let manifest: ManifestFile
  private let state: StateFolder
  private let request: RunRequest
  private let nowMilliseconds = Clock.wallMilliseconds
  private let random = UInt16.random(in: 0 ... .max)
  /// Unless another process takes the ID first.
  private let expected: RunID
  private var prepared: PreparedPlan
  package private(set) var initial: [InitialState]
  /// See `ResumeDecision`.
  private var owesFinally = false
  private var arguments: TaskArguments?
  private var rerun: TaskSet?
  /// On the command line, if the plan has services.
  private var named: TaskSet?

  /// Throws all errors of the manifest.
  package init(
    _ manifest: ManifestFile, _ state: StateFolder, _ request: RunRequest
  ) throws(PreparationError) {
    self.manifest = manifest
    self.state = state
    self.request = request
    let (now, random) = (nowMilliseconds, random)
    expected = RunID.next(
      after: try withFolder(state.runs().first), nowMilliseconds: now, random: random)
    prepared = try PreparedPlan(manifest, state, runID: expected.description, request)
    initial = [InitialState](repeating: .run, count: prepared.taskCount)
  }

  private var secrets: [SecretValue] = []

  package var warnings: [Diagnostic] { prepared.warnings }

  package mutating func selectTasks() throws(PreparationError) {
    let asksNothing = [request.tasks, request.only, request.skip, request.rerun]
      .allSatisfy { $0.isEmpty }
    if asksNothing, !prepared.hasManual { return }
    let plan = try prepared.open()
    try manifest.expectTasks(request.tasks, in: plan)
    do throws(SelectionError) {
      let selection = try Selection(
        tasks: request.tasks, only: request.only, skip: request.skip, of: plan)
      // A run that stays open may get all its tasks later.
      if request.openness == .ordinary || !asksNothing {
        try selection.expectSomething(of: plan)
      }
      // Overrides up-to-date checks.
      if !request.rerun.isEmpty { rerun = try Selection.tasks("--rerun", request.rerun, plan) }
      if plan.hasServices { named = selection.namedForItself(of: plan) }
      arguments = try TaskArguments(request.arguments, of: request.tasks, in: plan)
      initial = plan.tasks.map { selection.initialState(TaskID($0)) }
      owesFinally = selection.namedFinally != nil
    } catch {
      throw .selection(error)
    }
  }

  /// Reads the secrets that its tasks need. `complain` receives standard error of commands that
  /// print secrets. Throws unavailable secrets.
  package mutating func takeSecrets(_ complain: (String) -> Void) throws(PreparationError) {
    guard prepared.hasSecrets else { return }
    let plan = try prepared.open()
    secrets = try rethrowing(
      SecretTaking.take(
        plan, initial, copies: [(manifest.displayPath, manifest.bytes)] + prepared.copies,
        complain: complain)
    ) { manifest.diagnostics($0, runID: expected.description, request) }
    try request.expectNoSecret(secrets)
    guard let arguments, let masker = Masker(secrets) else { return }
    if arguments.words.contains(where: { masker.finds($0) }) {
      throw .selection(
        .noArguments(
          task: plan.nameString(arguments.task),
          why: "one of them holds a secret, and they are written down; list it under the task's"
            + " `secrets`, and read it from the environment"))
    }
  }

  /// nil if none are missing.
  package mutating func missingSecrets() throws(PreparationError) -> String? {
    guard prepared.hasSecrets else { return nil }
    return try SecretFaults.warning(SecretTaking.missing(prepared.open(), initial))
  }

  /// Throws the tasks that lack a terminal.
  package mutating func expectTerminal() throws(PreparationError) {
    guard prepared.hasInteractive else { return }
    let tasks = MissingTerminal.tasks(of: try prepared.open(), initial)
    if tasks.isEmpty { return }
    throw manifest.diagnostics(withoutTerminal: tasks, runID: expected.description, request)
  }

  /// No task contains this process.
  package mutating func expectNotAround() throws(PreparationError) {
    try PreparationError.expectNotAround(try prepared.open(), of: manifest.realPath, initial)
  }

  package mutating func expectDevices() throws(PreparationError) {
    try PreparationError.expectDevices(
      of: try prepared.open(), usesNodes: !request.on.isEmpty, initial)
  }

  /// If that is required.
  package mutating func expectMemoryLimits() throws(PreparationError) {
    if request.memory == .enforce { try MemoryLimits.expect(try prepared.open()) }
  }

  package var group: ConcurrencyGroup {
    ConcurrencyGroup(
      prepared.concurrency, manifest: manifest.realPath, in: state, asked: request.ifRunning)
  }

  /// Without starting a run.
  package mutating func open() throws(PreparationError) -> Plan { try prepared.open() }

  /// Without durations.
  package func resumeState(_ plan: Plan) -> ResumeState {
    var resumeState = ResumeState(
      initial: initial, attempts: [Int32](repeating: 0, count: plan.taskCount),
      owesFinally: owesFinally)
    resumeState.arguments = arguments
    resumeState.asked = rerun
    resumeState.named = named
    resumeState.openness = request.openness
    return resumeState
  }

  /// Even if the folder does not exist.
  package var statePath: String { state.path }

  package func durations(of plan: Plan) -> TaskDurations {
    state.durations(ofManifest: manifest.realPath, plan: plan)
  }

  /// From then on the run exists, is held by this process, and can be resumed.
  package consuming func begin() throws(PreparationError) -> PreparedSession {
    let (state, manifest) = (state, manifest)
    let (now, random) = (nowMilliseconds, random)
    let folder = try withFolder(state.makeRun(nowMilliseconds: now, random: random))
    let lock = try withFolder(RunFolderLock.take(folder))
    var prepared = prepared
    if folder.id != expected, prepared.isOfOneRun {
      // Another process took the ID, which expressions contain.
      prepared = try PreparedPlan(manifest, state, runID: folder.id.description, request)
    }
    var journal = try withFolder(JournalFile.create(folder.journal))
    try withFolder(folder.write(manifest: manifest.bytes))
    let plan = try withFolder(prepared.place(in: folder))
    var encoder = JournalEncoder()
    let (entry, opened) = (open(folder, prepared, plan), Clock.wallMilliseconds)
    encoder.append(.open(entry), at: opened, plan: plan)
    try rethrowing(journal.write(encoder.bytes)) {
      PreparationError.folder(.file(doing: "write", path: folder.journal, $0))
    }
    encoder.removeAll()
    var session = PreparedSession(
      folder, plan, resumeState: resumeState(plan), manifestPath: manifest.realPath,
      trace: SessionTrace(entry, openedMilliseconds: opened, parent: entry.trace), journal: journal,
      encoder: encoder, lock: lock)
    session.secrets = secrets
    session.startEarly(request)
    return session
  }

  private func open(_ folder: RunFolder, _ prepared: PreparedPlan, _ plan: Plan) -> OpenEntry {
    var open = OpenEntry(
      run: folder.id.description, planKey: prepared.key.description,
      opflowVersion: Version.text, manifestPath: manifest.realPath, folder: manifest.folder)
    open.set = request.set
    open.tasks = request.tasks
    open.arguments = request.arguments
    open.only = request.only
    open.skip = request.skip
    open.environment = prepared.environment
    open.files = prepared.files
    open.limits = SchedulerOptions(request, plan, request.openness).limits(of: plan)
    open.on = request.on.map(\.text)
    open.stateFolder = state.path
    open.trace = SessionTrace.parent
    open.around = .here
    open.serves = request.serves
    open.name = request.name
    return open
  }
}

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
