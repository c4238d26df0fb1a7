import OpflowCore
import OpflowManifest
import OpflowRuntime
import OpflowSystem

/// `opflow run` and `opflow plan`: a new run of a manifest, or the forecast of one.
enum RunCommand {
  static func perform(_ arguments: RunArguments) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let manifest = try ManifestFile(arguments.target)
    let compiled = try manifest.compile(
      runID: "plan", set: arguments.set, maxParallel: arguments.maxParallel, console: console)
    console.show(compiled.warnings)
    let plan = try CompiledPlan.open(compiled.planBytes)
    let selection = try select(arguments, plan)
    let view = PlanView(
      plan: plan, options: SchedulerOptions(arguments, plan),
      initial: plan.tasks.map { selection.initialState(TaskID($0)) },
      attempts: [Int32](repeating: 0, count: plan.taskCount), reasons: [],
      color: console.colorsOutput)
    try Console.write(view.text())
    return ExitCode.success.rawValue
  }

  private static func select(
    _ arguments: RunArguments, _ plan: Plan
  ) throws(CommandError) -> Selection {
    do throws(UsageError) {
      return try Selection(only: arguments.only, skip: arguments.skip, of: plan)
    } catch {
      throw CommandError(error)
    }
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
      throw CommandError(.internal, "the plan that was compiled is not sound: \(error)")
    }
  }
}

extension SchedulerOptions {
  /// What the command line, the manifest and the machine say, in this order.
  init(_ arguments: RunArguments, _ plan: Plan) {
    let manifestParallel = UInt64(plan.manifest.maxParallel)
    self.init(
      maxParallel: arguments.maxParallel.map { UInt64($0) }
        ?? (manifestParallel > 0 ? manifestParallel : UInt64(Machine.cores)),
      memoryBytes: Machine.memoryBytes,
      maxFailures: Int(arguments.maxFailures ?? plan.manifest.maxFailures),
      seed: UInt64.random(in: 0 ... .max))
  }
}
