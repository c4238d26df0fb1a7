package import OpflowBase
package import OpflowEngine
package import OpflowJournal
package import OpflowManifest
package import OpflowPlan
internal import OpflowSystem
internal import OpflowWire
internal import OpflowWorker

/// A run that is about to begin, before its folder exists.
package struct NewRun: Preparation {
  package let asked: RunRequest
  package let stateFolder: StateFolder
  private let manifest: ManifestFile
  private let nowMilliseconds = Clock.wallMilliseconds
  private let random = UInt16.random(in: 0 ... .max)
  /// Another process may take the ID first.
  private let expected: RunID
  private var prepared: PreparedPlan
  package private(set) var resumeState: ResumeState
  package var secrets: [SecretValue] = []

  package init(
    _ manifest: ManifestFile, _ state: StateFolder, _ asked: RunRequest
  ) throws(PreparationError) {
    self.manifest = manifest
    stateFolder = state
    self.asked = asked
    let (now, random) = (nowMilliseconds, random)
    expected = RunID.next(
      after: try withFolder(state.runs().first), nowMilliseconds: now, random: random)
    prepared = try PreparedPlan(manifest, state, runID: expected.description, asked)
    let count = prepared.plan.taskCount
    resumeState = ResumeState(
      initial: [InitialState](repeating: .run, count: count),
      attempts: [Int32](repeating: 0, count: count))
    resumeState.openness = asked.openness
  }

  package var diagnostics: [Diagnostic] { prepared.warnings }

  package var plan: Plan { prepared.plan }
  package var initial: [InitialState] { resumeState.initial }
  package var manifestPath: String { manifest.realPath }
  package var runID: String { expected.description }
  package var set: [String] { asked.set }
  package var warnings: [String] { [] }
  package var reasons: [Transition] { [] }
  package var copies: [(name: String, bytes: [UInt8])] {
    [(manifest.displayPath, manifest.bytes)] + prepared.copies
  }
  package func readManifest() -> ManifestFile { manifest }

  package mutating func selectTasks() throws(PreparationError) {
    let plan = plan
    let asksNothing = [asked.tasks, asked.only, asked.skip, asked.rerun]
      .allSatisfy { $0.isEmpty }
    if asksNothing, !plan.hasManual { return }
    try manifest.expectTasks(asked.tasks, in: plan)
    do throws(SelectionError) {
      let selection = try Selection(
        tasks: asked.tasks, only: asked.only, skip: asked.skip, of: plan)
      // A run that stays open may get all its tasks later.
      if asked.openness == .ordinary || !asksNothing {
        try selection.expectSomething(of: plan)
      }
      // Overrides up-to-date checks.
      if !asked.rerun.isEmpty {
        resumeState.asked = try Selection.tasks("--rerun", asked.rerun, plan)
      }
      if plan.hasServices { resumeState.named = selection.namedForItself(of: plan) }
      resumeState.arguments = try TaskArguments(asked.arguments, of: asked.tasks, in: plan)
      resumeState.initial = plan.tasks.map { selection.initialState(TaskID($0)) }
      resumeState.owesFinally = selection.namedFinally != nil
    } catch {
      throw .selection(error)
    }
  }

  private func expectNoSecretArgument() throws(PreparationError) {
    guard let arguments = resumeState.arguments, let masker = Masker(secrets),
      arguments.words.contains(where: { masker.finds($0) })
    else { return }
    throw .selection(
      .noArguments(
        task: plan.nameString(arguments.task),
        why: "one of them contains a secret, and opflow stores arguments; list the secret under"
          + " `secrets` of the task, and read it from the environment"))
  }

  /// Creates the run, which this process then holds and which can be resumed.
  package func begin() throws(PreparationError) -> PreparedSession {
    try expectNoSecretArgument()
    var new = self
    let folder = try withFolder(
      stateFolder.makeRun(nowMilliseconds: nowMilliseconds, random: random))
    let lock = try withFolder(RunFolderLock.take(folder))
    if folder.id != expected, prepared.isOfOneRun {
      // Another process took the ID, which expressions contain.
      new.prepared = try PreparedPlan(manifest, stateFolder, runID: folder.id.description, asked)
    }
    var journal = try withFolder(JournalFile.create(folder.journal))
    try withFolder(folder.write(manifest: manifest.bytes))
    try withFolder(new.prepared.place(in: folder))
    let options = SchedulerOptions(asked, new.plan, asked.openness)
    var encoder = JournalEncoder()
    let (entry, opened) = (new.open(folder, options), Clock.wallMilliseconds)
    encoder.append(.open(entry), at: opened, plan: new.plan)
    try rethrowing(journal.write(encoder.bytes)) {
      PreparationError.folder(.file(doing: "write", path: folder.journal, $0))
    }
    encoder.removeAll()
    var session = PreparedSession(
      new, in: folder, options, files: entry.files,
      trace: SessionTrace(entry, openedMilliseconds: opened, parent: entry.trace),
      journal: journal, encoder, lock: lock)
    session.startEarly()
    return session
  }

  private func open(_ folder: RunFolder, _ options: SchedulerOptions) -> OpenEntry {
    var open = OpenEntry(
      run: folder.id.description, planKey: plan.key.description,
      opflowVersion: Version.text, manifestPath: manifest.realPath, folder: manifest.folder)
    open.set = asked.set
    open.tasks = asked.tasks
    open.arguments = asked.arguments
    open.only = asked.only
    open.skip = asked.skip
    open.environment = prepared.environment
    open.files = prepared.files
    open.limits = options.limits(of: plan)
    open.on = asked.on.map(\.text)
    open.stateFolder = stateFolder.path
    open.trace = SessionTrace.parent
    open.around = .here
    open.serves = asked.serves
    open.name = asked.name
    return open
  }
}

/// The plan for the current manifest: an earlier run's with the same inputs, or compiled now.
struct PreparedPlan {
  private(set) var plan: Plan
  /// In the journal's format, like `files`.
  let environment: [String]
  let files: [String]
  let warnings: [Diagnostic]
  /// nil for a compiled plan, whose further files are `kept`.
  private var earlier: RunFolder?
  private var kept = KeptFiles()

  init(
    _ manifest: ManifestFile, _ state: StateFolder, runID: String, _ request: RunRequest
  ) throws(PreparationError) {
    let inputs = manifest.inputs(set: request.set)
    var found: [String]?
    let current = state.plan(ofManifest: manifest.realPath) { plan in
      // An empty plan belongs to a run that stays open.
      if plan.taskCount == 0, !manifest.mayBeEmpty { return false }
      found = plan.inputs(ifCurrent: inputs, runID: runID)?.fileEntries
      return found != nil
    }
    if let (plan, run) = current, let found, !plan.mayWarn(request) {
      self.plan = plan
      environment = plan.environmentEntries
      files = found
      warnings = []
      earlier = run
      return
    }
    let compiled = try manifest.compile(
      runID: runID, set: request.set, maxParallel: request.maxParallel, state: state)
    plan = try compiled.openPlan()
    environment = compiled.environmentEntries
    files = FileEntry.texts(compiled.files, from: manifest.folder)
    for file in compiled.furtherFiles { kept.add(file.path, file.bytes, from: manifest.folder) }
    warnings = compiled.warnings
    earlier = nil
  }

  /// The plan contains the run's ID, so that other runs cannot share it.
  var isOfOneRun: Bool { earlier == nil && plan.manifest.usesRunID == 1 }

  var copies: [WrittenSecrets.Copy] {
    guard let earlier else { return kept.named }
    return plan.hasFurtherFiles ? earlier.readKeptFiles().named : []
  }

  /// Links the plan, or writes and maps it, which frees its bytes.
  mutating func place(in folder: RunFolder) throws(RunFolderError) {
    if let earlier {
      if plan.hasFurtherFiles { try folder.shareKeptFiles(of: earlier) }
      return try folder.share(plan, of: earlier)
    }
    try folder.write(kept)
    kept = KeptFiles()
    try folder.write(plan: plan.copyOfBytes)
    plan = try folder.openPlan(verifyingChecksum: false)
    earlier = folder
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

  func mayWarn(_ request: RunRequest) -> Bool {
    mayWarn(SchedulerOptions(request, self).capacities(of: self))
  }

  var environmentEntries: [String] {
    EnvironmentEntry.texts(environmentRead(Environment.value))
  }
}

extension CompiledManifest {
  var environmentEntries: [String] { EnvironmentEntry.texts(environmentRead) }

  /// An error is a bug in opflow.
  package func openPlan() throws(PreparationError) -> Plan {
    do throws(PlanError) {
      let plan = try Plan(copying: planBytes)
      try plan.validate()
      return plan
    } catch {
      throw .unsoundPlan(error)
    }
  }
}

extension PlanInputs {
  var fileEntries: [String] { FileEntry.texts(files, from: folder) }
}

/// The journal has hashes of variables, not values.
private enum EnvironmentEntry {
  static func texts(_ variables: [(name: String, value: String?)]) -> [String] {
    variables.map { name, value in
      let hash = value.map { Hexadecimal.text(Hash.xxh3(Array($0.utf8))) } ?? "-"
      return "\(name)=\(hash)"
    }
  }
}
