import OpflowCommandLine
internal import OpflowEngine
internal import OpflowJournal
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem
internal import OpflowViews
import OpflowWorker

/// A dry run: what would run, in which order and for how long.
enum Forecast {
  static func show(
    _ new: inout NewRun, _ arguments: Invocation, _ console: Console
  ) throws(CommandError) -> Int32 {
    let plan = try console.preparing { () throws(PreparationError) in try new.open() }
    let missing = try console.preparing { () throws(PreparationError) in try new.missingSecrets() }
    if let missing { console.warn(missing) }
    var entering = new.entering(plan)
    entering.durations = new.durations(of: plan)
    return try show(plan, entering, state: new.statePath, arguments, console)
  }

  static func show(
    _ prepared: PreparedResume, _ arguments: Invocation, _ console: Console
  ) throws(CommandError) -> Int32 {
    for warning in prepared.warnings { console.warn(warning) }
    if let missing = prepared.missingSecrets { console.warn(missing) }
    var entering = prepared.entering
    entering.durations = prepared.durations
    return try show(
      prepared.plan, entering, state: prepared.statePath, reasons: prepared.reasons, arguments,
      console)
  }

  private static func show(
    _ plan: Plan, _ entering: Entering, state: String, reasons: [Transition] = [],
    _ arguments: Invocation, _ console: Console
  ) throws(CommandError) -> Int32 {
    let view = PlanView(
      plan: plan, options: SchedulerOptions(RunRequest(arguments), plan), entering: entering,
      reasons: reasons, capacities: arguments.capacities.map { UInt64($0) },
      foresight: foresight(plan, state: state, cache: RunRequest(arguments).cache, console),
      showsAll: arguments.verbose,
      color: console.colorsOutput, columns: Terminal.size(Terminal.standardOutput)?.columns)
    try view.write { bytes throws(CommandError) in try Console.write(bytes) }
    return ExitCode.success.rawValue
  }

  static func foresight(
    _ plan: Plan, state: String, cache: CacheSetting?, _ console: Console
  ) -> FileForesight? {
    guard plan.hasChecks else { return nil }
    do throws(Errno) {
      let look = try PlanLook(plan, state: state, cache: cache)
      return { look.foresee($0, $1) }
    } catch {
      console.warn("what is known of tasks cannot be read: \(error); all are taken to run")
      return nil
    }
  }
}
