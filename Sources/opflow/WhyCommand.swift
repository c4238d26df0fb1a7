import OpflowCommandLine
import OpflowCore
import OpflowRuntime
import OpflowSystem

/// `opflow why`: why tasks of a run wait, ran, were skipped, failed.
enum WhyCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let folder = try RunLookup.run(arguments.run, arguments.view)
    let run = try RunLookup.reading { () throws(RunFolderError) in
      try ReadRun(folder, keepingDetails: true)
    }
    for warning in run.warnings { console.warn(warning) }
    let status = run.status
    let tasks = try tasks(arguments.tasks, run.plan)
    let shown = arguments.view
    let view = WhyView(
      status, durations: durations(run), nowMilliseconds: Clock.wallMilliseconds,
      orderCommand: { CommandText.order(folder, $0, $1, shown) },
      fate: status.state == .running ? { _ in nil } : fates(folder, run.plan, console))
    try Console.write(
      arguments.json
        ? view.json(tasks)
        : view.text(
          tasks, color: console.colorsOutput,
          columns: Terminal.size(Terminal.standardOutput)?.columns))
    return ExitCode.success.rawValue
  }

  private static func tasks(
    _ selectors: [String], _ plan: Plan
  ) throws(CommandError) -> [TaskID] {
    do throws(UnfitSelector) {
      let set = try Selector.tasks(selectors, of: plan)
      return plan.tasks.lazy.map { TaskID($0) }.filter { set.contains($0) }
    } catch {
      throw CommandError(.usage, error.message(of: "why"))
    }
  }

  /// What the order of those that wait was made of, as far as that is still there.
  private static func durations(_ run: ReadRun) -> TaskDurations {
    guard run.isHeld, let open = run.history.open else { return .unknown }
    return RunLookup.durations(open, run.folder, run.plan)
  }

  /// What a resume would do now, by the manifest as it is now.
  private static func fates(
    _ folder: RunFolder, _ plan: Plan, _ console: Console
  ) -> (TaskID) -> ResumeFate? {
    let asked = RunRequest()
    let prepared: PreparedResume
    do throws(PreparationError) {
      prepared = try PreparedResume(try ResumedRun(folder, nil, asked), asked)
    } catch {
      console.warn("what a resume would do is not known: the manifest cannot be used as it is now")
      return { _ in .unknown }
    }
    let (other, initial) = (prepared.plan, prepared.initial)
    var reasons: [TaskID: Transition] = [:]
    for reason in prepared.reasons { reasons[reason.task] = reason }
    return { task in
      guard let task = other.task(named: plan.nameString(task)) else { return .gone }
      switch initial[task.index] {
      case .interrupted: return .fails
      case .run, .afterNeeds:
        return .runs(reasons[task].flatMap { $0.moved(from: other, to: plan) })
      case .succeeded, .upToDate, .failedAllowed, .skipped, .skippedUpstream: return .keeps
      case .recheck: return .checks
      case .later, .laterAfterNeeds: return .keepsLater
      case .failed: return .staysFailed
      case .skipOption, .skipOnce, .excluded, .leftDone, .leftFailed, .leftUpstream, .leftOpen:
        return .leaves
      }
    }
  }
}

extension Transition {
  /// The same of the task of that name in another plan, and the task that its reason speaks of; nil where
  /// that has none.
  fileprivate func moved(from plan: Plan, to other: Plan) -> Transition? {
    guard case .resume(let reason) = event,
      let task = other.task(named: plan.nameString(task))
    else { return nil }
    guard case .afterRerun(let need) = reason, !need.isNone else {
      return Transition(.resume(reason), task)
    }
    let moved = other.task(named: plan.nameString(need)) ?? .none
    return Transition(.resume(.afterRerun(moved)), task)
  }
}
