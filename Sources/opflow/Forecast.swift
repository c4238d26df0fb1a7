import OpflowCommandLine
import OpflowCore
import OpflowRuntime

/// What a dry run tells: what would run, in which order, and how long it takes.
enum Forecast {
  /// Of a new run.
  static func show(
    _ new: inout NewRun, _ arguments: Invocation, _ console: Console
  ) throws(CommandError) -> Int32 {
    let plan = try console.preparing { () throws(PreparationError) in try new.open() }
    let missing = try console.preparing { () throws(PreparationError) in try new.missingSecrets() }
    if let missing { console.warn(missing) }
    return try show(
      PlanView(
        plan: plan, options: SchedulerOptions(RunRequest(arguments), plan), initial: new.initial,
        attempts: [Int32](repeating: 0, count: plan.taskCount), reasons: [],
        durations: new.durations(of: plan), capacities: arguments.capacities.map { UInt64($0) },
        owesFinally: new.owesFinally, showsAll: arguments.verbose, color: console.colorsOutput))
  }

  /// Of a resume.
  static func show(
    _ prepared: PreparedResume, _ arguments: Invocation, _ console: Console
  ) throws(CommandError) -> Int32 {
    for warning in prepared.warnings { console.warn(warning) }
    if let missing = prepared.missingSecrets { console.warn(missing) }
    let plan = prepared.plan
    return try show(
      PlanView(
        plan: plan, options: SchedulerOptions(RunRequest(arguments), plan),
        initial: prepared.initial, attempts: prepared.attempts, reasons: prepared.reasons,
        durations: prepared.durations, priorities: prepared.priorities,
        capacities: arguments.capacities.map { UInt64($0) },
        owesFinally: prepared.owesFinally, showsAll: arguments.verbose,
        color: console.colorsOutput))
  }

  private static func show(_ view: PlanView) throws(CommandError) -> Int32 {
    try view.write { bytes throws(CommandError) in try Console.write(bytes) }
    return ExitCode.success.rawValue
  }
}
