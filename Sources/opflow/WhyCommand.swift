import OpflowCommandLine
internal import OpflowEngine
internal import OpflowJournal
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem
internal import OpflowViews

enum WhyCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let folder = try RunLookup.run(arguments.run, arguments.view)
    let run = try RunLookup.reading(ReadRun(folder, keepingDetails: true))
    for warning in run.warnings { console.warn(warning) }
    let status = run.status
    let tasks = try tasks(run, arguments)
    let shown = arguments.view
    let view = WhyView(
      status, durations: durations(run), nowMilliseconds: Clock.wallMilliseconds,
      controlCommand: { CommandText.request(folder, $0, $1, shown) },
      fate: status.state == .running
        ? { _ in nil } : ResumeOutcomes.now(folder, run.plan, of: tasks, console))
    try Console.write(
      arguments.json
        ? view.json(tasks)
        : view.text(
          tasks, color: console.colorsOutput,
          columns: Terminal.size(Terminal.standardOutput)?.columns))
    return ExitCode.success.rawValue
  }

  private static func tasks(
    _ run: ReadRun, _ arguments: Invocation
  ) throws(CommandError) -> [TaskID] {
    let plan = run.plan
    do throws(UnfitSelector) {
      let set = try Selector.tasks(arguments.tasks, of: plan)
      return plan.tasks.lazy.map { TaskID($0) }.filter { set.contains($0) }
    } catch {
      throw RunLookup.complaint(error.message(of: "why"), ofDefault: run.folder, arguments)
    }
  }

  /// What the run's queue is based on, as far as it still exists.
  private static func durations(_ run: ReadRun) -> TaskDurations {
    guard run.isHeld, let open = run.history.open else { return .unknown }
    return RunLookup.durations(open, run.folder, run.plan)
  }
}

/// Predicts what a resume would do with tasks, from the current manifest and files.
struct ResumeOutcomes {
  private let plan: Plan
  private let initial: [InitialState]
  private let addsAnew: (String) -> Bool
  private var reasons: [TaskID: Transition] = [:]
  /// nil if no files need checking.
  private var forecast: RunForecast?
  private var starts: Set<TaskID> = []
  private var upToDate: Set<TaskID> = []
  private var settled: [TaskID: Transition] = [:]

  /// `plan` is the run's, also of `tasks` and the returned function.
  static func now(
    _ folder: RunFolder, _ plan: Plan, of tasks: [TaskID], _ console: Console
  ) -> (TaskID) -> ResumeFate? {
    let asked = RunRequest()
    let prepared: PreparedResume
    do throws(PreparationError) {
      prepared = try PreparedResume(try ResumedRun(folder, nil, asked), asked)
    } catch {
      console.warn("cannot tell what a resume would do; `opflow check` shows why")
      return { _ in .unknown }
    }
    var outcomes = ResumeOutcomes(
      plan: prepared.plan, initial: prepared.initial, addsAnew: { prepared.addsAnew($0) })
    for reason in prepared.reasons { outcomes.reasons[reason.task] = reason }
    let known = tasks.compactMap { prepared.plan.task(named: plan.nameString($0)) }
    let isOfFiles = known.contains { outcomes.isOfFiles($0) }
    let foresight =
      isOfFiles
      ? Forecast.foresight(prepared.plan, prepared.stateFolder, cache: nil, console) : nil
    if foresight != nil || known.contains(where: { outcomes.mayRun($0) }) {
      outcomes.foresee(prepared.resumeState, foresight)
    }
    return { [outcomes] in outcomes.fate(of: $0, in: plan) }
  }

  private init(plan: Plan, initial: [InitialState], addsAnew: @escaping (String) -> Bool) {
    self.addsAnew = addsAnew
    self.plan = plan
    self.initial = initial
  }

  private func mayRun(_ task: TaskID) -> Bool {
    initial[task.index] == .run || initial[task.index] == .afterNeeds
  }

  private func isOfFiles(_ task: TaskID) -> Bool {
    switch initial[task.index] {
    case .recheck, .later, .laterAfterNeeds: true
    case .run, .afterNeeds: plan.isChecked(task)
    case .succeeded, .upToDate, .failedAllowed, .skipped, .unused, .skippedUpstream, .interrupted,
      .failed, .stillFailed, .stillCancelled, .stillUpstream, .skipOption, .skipOnce, .excluded,
      .leftDone, .leftFailed, .leftUpstream, .leftOpen, .stays:
      false
    }
  }

  private mutating func foresee(_ resumeState: ResumeState, _ foresight: FileForesight?) {
    let forecast = RunForecast(
      plan: plan, options: SchedulerOptions(RunRequest(), plan), resumeState: resumeState,
      foresight: foresight)
    starts = Set(forecast.starts)
    upToDate = Set(forecast.files.upToDate)
    for transition in forecast.settled { settled[transition.task] = transition }
    if foresight != nil { self.forecast = forecast }
  }

  private func fate(of task: TaskID, in other: Plan) -> ResumeFate? {
    let name = other.nameString(task)
    guard let task = plan.task(named: name) else { return addsAnew(name) ? .addedAnew : .gone }
    if isOfFiles(task), let forecast, let fate = fate(of: task, forecast, in: other) {
      return fate
    }
    switch initial[task.index] {
    case .interrupted: return .fails
    case .run, .afterNeeds:
      if let blocked = blocked(task, in: other) { return blocked }
      return .runs(reasons[task].flatMap { $0.moved(from: plan, to: other) })
    case .succeeded, .upToDate, .failedAllowed, .skipped, .unused, .skippedUpstream,
      .stillCancelled,
      .stillUpstream:
      return .keeps
    case .recheck: return .checks
    case .later, .laterAfterNeeds: return .keepsLater
    case .failed, .stillFailed: return .staysFailed
    case .skipOption, .skipOnce, .excluded, .leftDone, .leftFailed, .leftUpstream, .leftOpen,
      .stays:
      return .leaves
    }
  }

  /// nil if files do not matter.
  private func fate(of task: TaskID, _ forecast: RunForecast, in other: Plan) -> ResumeFate? {
    if case .ended(.input) = settled[task]?.why { return settled[task].map { .unfit($0.detail) } }
    if let blocked = blocked(task, in: other) { return blocked }
    if let need = forecast.files.unsure[task] {
      return other.task(named: plan.nameString(need)).map { .runsUnless($0) }
    }
    if starts.contains(task) {
      if let detail = forecast.files.reasons[task] { return .runsChanged(detail) }
      return reasons[task] == nil && plan.isChecked(task) ? .runsChanged("") : nil
    }
    if upToDate.contains(task) { return .upToDate }
    return mayRun(task) ? nil : .keeps
  }

  private func blocked(_ task: TaskID, in other: Plan) -> ResumeFate? {
    guard case .skipped(.upstream(let need)) = settled[task]?.why else { return nil }
    return other.task(named: plan.nameString(need)).map { .blocked($0) }
  }
}

extension Transition {
  /// Translates to another plan; nil if that lacks the task.
  fileprivate func moved(from plan: Plan, to other: Plan) -> Transition? {
    guard case .resume(let reason) = event, let task = other.task(named: plan.nameString(task))
    else { return nil }
    guard case .afterRerun(let need) = reason, !need.isNone else {
      return Transition(.resume(reason), task)
    }
    let moved = other.task(named: plan.nameString(need)) ?? .none
    return Transition(.resume(.afterRerun(moved)), task)
  }
}
