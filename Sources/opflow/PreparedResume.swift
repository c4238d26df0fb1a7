import OpflowCommandLine
import OpflowCore
import OpflowManifest
import OpflowRuntime
import OpflowSystem

/// All that a resume decides before it touches anything: the run's journal, the manifest as it is now,
/// and what follows for each task.
struct PreparedResume {
  let plan: Plan
  /// Of the plan file to be written, where the plan is another than the run's last one.
  let planBytes: [UInt8]
  let history: RunHistory
  let recovery: JournalRecovery
  let warnings: [String]
  /// How each task enters the scheduler. Made on demand, as all that follows: a resume that finds
  /// nothing to run does without.
  var initial: [InitialState] { decision.initialStates(request) }
  /// By task, what earlier drives used up.
  var attempts: [Int32] { plan.tasks.map { history[TaskID($0)].attempts } }
  /// What earlier runs, this one among them, tell of how long tasks take.
  var durations: TaskDurations {
    StateFolder(path: Path.parent(of: Path.parent(of: folder.path)))
      .durations(ofManifest: manifestPath, plan: plan)
  }

  private let folder: RunFolder
  private let manifestPath: String
  /// See `RunManifest`.
  let original: RunFolder?
  private let request: ResumeRequest
  private let decision: ResumeDecision
  private let entry: ResumeEntry

  var isNewPlan: Bool { !planBytes.isEmpty }

  init(
    _ folder: RunFolder, _ given: ManifestFile?, _ arguments: Invocation, _ console: Console
  ) throws(CommandError) {
    let open = try RunLookup.reading { () throws(RunFolderError) in try folder.readOpen() }
    self.folder = folder
    let located = RunManifest(open, folder)
    manifestPath = given?.realPath ?? located.realPath
    original = located.original
    // The plan that the run had serves to read its journal. Without it the manifest is compiled as
    // it was at the start, which gives the names.
    let last = try? folder.openPlan()
    var read: (history: RunHistory, recovery: JournalRecovery)?
    if let last { read = try Self.read(folder, last) }
    let set = Self.set(arguments, read?.history.set ?? open.set)
    let environment: [String]
    if let last, let inputs = given?.inputs(set: set) ?? located.inputs(set: set),
      last.isCurrent(inputs, runID: open.run),
      !last.mayWarn(SchedulerOptions(arguments, last).capacities(of: last))
    {
      (plan, planBytes, environment) = (last, [], last.environmentEntries)
    } else {
      let manifest: ManifestFile
      if let given { manifest = given } else { manifest = try located.read() }
      let compiled = try manifest.compile(
        runID: open.run, set: set, maxParallel: arguments.maxParallel, console: console,
        state: StateFolder(holding: folder))
      console.show(compiled.warnings)
      environment = compiled.environmentEntries
      if let last, last.key == compiled.planKey {
        (plan, planBytes) = (last, [])
      } else {
        planBytes = compiled.planBytes
        plan = try CompiledPlan.open(compiled.planBytes)
        read = nil
      }
    }
    let plan = plan
    let known: (history: RunHistory, recovery: JournalRecovery)
    if let read { known = read } else { known = try Self.read(folder, plan) }
    if known.history.hasAbsoluteFingerprints {
      // An older opflow wrote them, of the folder that the manifest was in.
      let manifest = if let given { given } else { try located.read() }
      let earlier = try manifest.compileAsBefore(
        runID: open.run, set: set, folder: open.folder, console: console)
      (history, recovery) = try Self.read(folder, plan, earlier: earlier)
    } else {
      (history, recovery) = known
    }

    let only = Self.anew(arguments.only, history.only)
    let skip = Self.anew(arguments.skip, history.skip)
    let scope = RunScope.of(history, plan)
    var request = try Self.request(
      tasks: history.tasks, only: only, skip: skip, scope: arguments.only.isEmpty ? scope : nil,
      rerun: arguments.rerun, plan)
    if let selected = request.selected {
      request.scope = scope
      request.scope?.formUnion(selected)
    }
    if let last, last.key != plan.key { request.added = Self.added(plan, since: last) }
    request.runSkip = RunScope.skipped(by: history, plan)
    request.outputMissing = MissingOutputs.find(plan, history)
    self.request = request
    decision = ResumeDecision(plan: plan, history: history, request: request)

    var entry = ResumeEntry(planKey: plan.key.description, opflowVersion: Version.text)
    entry.set = Self.set(arguments, history.set)
    entry.only = only
    entry.skip = skip
    entry.environment = environment
    decision.complete(&entry)
    self.entry = entry
    warnings =
      (given == nil ? [located.warning].compactMap { $0 } : [])
      + Self.warnings(folder, recovery, removed: decision.removed)
  }

  /// What is journaled first.
  var opening: [JournalEntry] {
    [.resume(entry)] + decision.transitions.map { .transition($0) }
  }

  /// The exit code of a run that came to its end and in which nothing would change; nil for others. One
  /// that was stopped when all was done but its end has that before it.
  var nothingToDo: Int32? {
    guard let close = history.close, close.state == .succeeded || close.state == .failed,
      !decision.startsAnything, decision.failCount == 0, decision.transitions.isEmpty,
      decision.runCount == 0
    else { return nil }
    return close.exitCode
  }

  /// Tasks that stay failed until somebody asks for them.
  var keptFailures: [TaskID] {
    plan.tasks.lazy.map { TaskID($0) }.filter {
      if case .keep(.failed, _) = decision[$0] { true } else { false }
    }
  }

  var owesFinally: Bool { decision.owesFinally }

  var verdict: String { history.close?.state.rawValue ?? RunState.interrupted.rawValue }

  func forecast(_ arguments: Invocation, _ console: Console) throws(CommandError) -> Int32 {
    for warning in warnings { console.warn(warning) }
    let view = PlanView(
      plan: plan, options: SchedulerOptions(arguments, plan), initial: initial,
      attempts: attempts, reasons: decision.transitions, durations: durations,
      capacities: arguments.capacities.map { UInt64($0) }, owesFinally: owesFinally,
      color: console.colorsOutput)
    try view.write { bytes throws(CommandError) in try Console.write(bytes) }
    return ExitCode.success.rawValue
  }

  private static func added(_ plan: Plan, since last: Plan) -> TaskSet? {
    var added: TaskSet?
    for index in plan.tasks where last.task(named: plan.nameBytes(TaskID(index))) == nil {
      added = added ?? TaskSet(taskCount: plan.taskCount)
      added?.insert(TaskID(index))
    }
    return added
  }

  /// The run that `run --resume` continues was looked for by its `--set`, also where that is none.
  private static func set(_ arguments: Invocation, _ recorded: [String]) -> [String] {
    arguments.resumesNewest ? arguments.set : anew(arguments.set, recorded)
  }

  /// What the call gives, else what the run has.
  private static func anew(_ given: [String], _ recorded: [String]) -> [String] {
    given.isEmpty ? recorded : given
  }

  private static func read(
    _ folder: RunFolder, _ plan: Plan, earlier: Plan? = nil
  ) throws(CommandError) -> (history: RunHistory, recovery: JournalRecovery) {
    try RunLookup.reading { () throws(RunFolderError) in
      try folder.readHistory(plan: plan, absolutePlan: earlier)
    }
  }

  private static func request(
    tasks: [String], only: [String], skip: [String], scope: TaskSet?, rerun: [String],
    _ plan: Plan
  ) throws(CommandError) -> ResumeRequest {
    do throws(SelectionError) {
      var request = ResumeRequest()
      let selection = try Selection(tasks: tasks, only: only, skip: skip, of: plan)
      try selection.expectSomething(of: plan)
      // What an earlier resume named besides is part of the run by now.
      if !only.isEmpty || !tasks.isEmpty { request.selected = scope ?? selection.included }
      request.finallyFollowsNeeds = !tasks.isEmpty
      if !skip.isEmpty { request.skip = selection.skipped }
      request.namedFinally = selection.namedFinally
      if !rerun.isEmpty {
        let asked = try Selection.tasks("--rerun", rerun, plan)
        let runs = plan.tasks.lazy.map { TaskID($0) }.contains {
          asked.contains($0) && request.selects($0) && !request.skips($0)
        }
        guard runs else {
          throw SelectionError.rerunLeftOut
        }
        request.rerun = asked
      }
      return request
    } catch {
      throw CommandError(error)
    }
  }

  private static func warnings(
    _ folder: RunFolder, _ recovery: JournalRecovery, removed: [String]
  ) -> [String] {
    var warnings: [String] = []
    for damage in recovery.damage.prefix(5) {
      warnings.append("\(folder.journal): \(damage.message)")
    }
    if recovery.damage.count > 5 {
      warnings.append("\(folder.journal): \(recovery.damage.count - 5) more places are damaged")
    }
    if !removed.isEmpty {
      let names = removed.prefix(5).joined(separator: ", ")
      let more = removed.count > 5 ? " and \(removed.count - 5) more" : ""
      warnings.append("no longer in the manifest: \(names)\(more)")
    }
    return warnings
  }
}
