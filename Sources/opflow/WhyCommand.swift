import OpflowCommandLine
internal import OpflowJournal
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem
internal import OpflowViews

enum WhyCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let folder = try RunLookup.run(arguments.run, arguments.view)
    let run = try RunLookup.reading { () throws(RunFolderError) in
      try ReadRun(folder, keepingDetails: true)
    }
    for warning in run.warnings { console.warn(warning) }
    let status = run.status
    let tasks = try tasks(run, arguments)
    let shown = arguments.view
    let view = WhyView(
      status, durations: durations(run), nowMilliseconds: Clock.wallMilliseconds,
      orderCommand: { CommandText.order(folder, $0, $1, shown) },
      fate: status.state == .running
        ? { _ in nil } : ResumeFates.now(folder, run.plan, of: tasks, console))
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
