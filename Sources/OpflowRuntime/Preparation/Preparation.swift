package import OpflowBase
package import OpflowEngine
package import OpflowJournal
internal import OpflowManifest
package import OpflowPlan
internal import OpflowSystem

/// A new run, or a resume. Nothing changes before `begin`.
package protocol Preparation {
  var asked: RunRequest { get }
  var plan: Plan { get }
  /// How each task enters the engine. May be computed on demand.
  var initial: [InitialState] { get }
  /// With `initial`, without durations.
  var resumeState: ResumeState { get }
  var stateFolder: StateFolder { get }
  /// The real path; `-` for standard input.
  var manifestPath: String { get }
  func readManifest() throws(PreparationError) -> ManifestFile
  /// The manifest's variables, from `--set`.
  var set: [String] { get }
  var runID: String { get }
  /// Files to be written to the run's folder.
  var copies: [(name: String, bytes: [UInt8])] { get }
  var warnings: [String] { get }
  /// Why tasks run again.
  var reasons: [Transition] { get }
  var secrets: [SecretValue] { get set }
}

extension Preparation {
  package mutating func expectRunnable(_ complain: (String) -> Void) throws(PreparationError) {
    try asked.expectPrograms()
    try expectNotAround()
    try expectTerminal()
    try expectDevices()
    if asked.memory == .enforce { try MemoryLimits.expect(plan) }
    try takeSecrets(complain)
  }

  private func expectNotAround() throws(PreparationError) {
    let around = TasksAround.here
    if around.isEmpty { return }
    let (plan, initial) = (plan, initial)
    for task in plan.tasks.lazy.map({ TaskID($0) })
    where [.run, .afterNeeds].contains(initial[task.index]) {
      let name = plan.nameString(task)
      if around.contains(name, of: manifestPath, plan.key) { throw .taskAround(name) }
    }
  }

  private func expectDevices() throws(PreparationError) {
    let missing = MissingDevices.first(of: plan, usesNodes: !asked.on.isEmpty, initial)
    guard let missing else { return }
    throw .tooFewDevices(task: missing.task, wanted: missing.wanted, there: missing.there)
  }

  private func expectTerminal() throws(PreparationError) {
    let tasks = MissingTerminal.tasks(of: plan, initial)
    if tasks.isEmpty { return }
    throw try placing(.noTerminal(tasks: tasks)) { $0.tasksWithoutTerminal = Set(tasks) }
  }

  /// Reads the tasks' secrets, since nothing stores them. `complain` receives standard error of
  /// commands that print secrets. Throws unavailable secrets at the places that list them.
  package mutating func takeSecrets(_ complain: (String) -> Void) throws(PreparationError) {
    guard plan.hasSecrets else { return }
    do throws(SecretFaults) {
      secrets = try SecretTaking.take(plan, initial, copies: copies, complain: complain)
    } catch {
      throw try placing(.secrets(error)) { options in
        for fault in error.faults {
          options.missingSecrets[fault.name] = MissingSecret(
            detail: fault.detail, help: fault.help, tasks: error.tasks)
        }
      }
    }
    try asked.expectNoSecret(secrets)
  }

  private func placing(
    _ plain: PreparationError, noting note: (inout CompileOptions) -> Void
  ) throws(PreparationError) -> PreparationError {
    try readManifest().placing(
      plain, runID: runID, set: set, maxParallel: asked.maxParallel, noting: note)
  }

  package var missingSecrets: String? {
    plan.hasSecrets ? SecretFaults.warning(SecretTaking.missing(plan, initial)) : nil
  }

  package var group: ConcurrencyGroup {
    ConcurrencyGroup(
      plan.concurrency, manifest: manifestPath, in: stateFolder, asked: asked.ifRunning)
  }

  /// Durations in earlier runs and in this run.
  package var durations: TaskDurations {
    stateFolder.durations(ofManifest: manifestPath, plan: plan)
  }
}
