internal import OpflowBase
import OpflowCommandLine
import OpflowManifest
internal import OpflowPlan
import OpflowRuntime
internal import OpflowViews
internal import OpflowWire

enum AddCommand {
  /// A concurrent addition changes the plan, so that this one is compiled again.
  private static let mostTries = 100

  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    do throws(CommandError) {
      return try add(arguments, console)
    } catch {
      // With --json, errors are objects too.
      if arguments.json { try Console.write(AddView.json(refused: error.message)) }
      throw error
    }
  }

  private static func add(
    _ arguments: Invocation, _ console: Console
  ) throws(CommandError) -> Int32 {
    let folder = try LiveRuns.run(arguments)
    let manifest = try ManifestLookup.manifest(arguments.file)
    let addition = try join(folder, arguments, console, asking: "opflow add") {
      (plan, id) throws(CommandError) in
      let adder = try adder(in: plan, of: folder)
      return try console.preparing { () throws(PreparationError) in
        try PreparedAddition(manifest, to: folder, plan, id, by: adder)
      }
    }
    return try tell(addition, folder, arguments)
  }

  /// Compiles and sends an addition until the run accepts it. Sends nothing if no task is new.
  static func join(
    _ folder: RunFolder, _ arguments: Invocation, _ console: Console, asking name: String,
    _ make: (Plan, OrderID) throws(CommandError) -> PreparedAddition
  ) throws(CommandError) -> PreparedAddition {
    var hasWarned = false
    for _ in 0..<mostTries {
      let plan = try LiveRuns.plan(folder, arguments.view)
      var addition = try make(plan, OrderID.new())
      if !hasWarned { console.show(addition.warnings) }
      hasWarned = true
      addition.request.by = name
      // Within the request, so that a refused secret is never written to a file.
      if plan.hasSecrets { addition.carry() }
      guard addition.taskCount > 0 else { return addition }
      switch try ask(addition, folder, plan, arguments) {
      case .done: return addition
      case .refused(let what) where what.hasPrefix(AddRequest.outdated): addition.remove()
      case .refused(let what):
        addition.remove()
        let isOutput = what.hasPrefix(AddRequest.unwritable)
        throw CommandError(isOutput ? .io : .usage, "add: \(CleanText.string(what))")
      }
    }
    throw CommandError(
      .usage, "add: run \(folder.id) grows faster than this can be compiled for it; add it again")
  }

  private static func ask(
    _ addition: PreparedAddition, _ folder: RunFolder, _ plan: Plan, _ arguments: Invocation
  ) throws(CommandError) -> OrderAnswer {
    guard let line = OrderLines.line(addition.request) else {
      throw CommandError(
        .usage, "add: the manifest names too many files to be added at once; give it part by part")
    }
    do throws(RunFolderError) {
      try addition.write()
    } catch {
      addition.remove()
      throw CommandError(error)
    }
    return try OrderCommand.ask(
      line, addition.request.id, folder, plan, arguments, whenUndone: addition.remove)
  }

  /// `none` outside the run.
  private static func adder(in plan: Plan, of folder: RunFolder) throws(CommandError) -> TaskID {
    guard let around = TaskAround.here, around.run == folder.id,
      let task = plan.task(named: around.task)
    else { return .none }
    guard plan.flags(task).contains(.finally) else { return task }
    throw CommandError(
      .usage,
      "add: \(CleanText.string(around.task)) is a `finally` task: when one runs, nothing is added "
        + "any more")
  }

  private static func tell(
    _ addition: PreparedAddition, _ folder: RunFolder, _ arguments: Invocation
  ) throws(CommandError) -> Int32 {
    let run = folder.id.description
    if arguments.json {
      try Console.write(
        AddView.json(
          run: run, addition.taskCount > 0 ? addition.request.id : nil,
          count: addition.taskCount, addition.ids, unchanged: addition.unchanged))
    } else {
      try Console.write(
        AddView.text(
          run: run, count: addition.taskCount, addition.added, unchanged: addition.unchanged)
          + "\n")
    }
    return ExitCode.success.rawValue
  }
}
