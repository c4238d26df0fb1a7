import OpflowCore
import OpflowRuntime
import OpflowSystem

/// `opflow status`: where a run stands.
enum StatusCommand {
  static func perform(_ arguments: StatusArguments) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let folder = try RunLookup.run(arguments.run, arguments.view)
    let run = try RunLookup.reading { () throws(RunFolderError) in
      try ReadRun(folder, keepingDetails: true)
    }
    run.warn(console)
    if arguments.json {
      let logs = RunLogs(folder)
      try Console.write(StatusJSON.text(run.status) { logs.path(of: $0, in: run.plan) })
    } else {
      let view = StatusView(
        run.status, nowMilliseconds: Clock.wallMilliseconds, showsAll: arguments.verbose,
        color: console.colorsOutput)
      try Console.write(view.text())
    }
    return ExitCode.success.rawValue
  }
}

/// The logs that a run has.
struct RunLogs {
  private let folder: String
  private let names: Set<String>

  init(_ run: RunFolder) {
    folder = run.logs
    // Where the folder cannot be read no task has a log that anybody could look at.
    names = Set((try? Path.names(in: run.logs)) ?? [])
  }

  /// Absolute; nil for a task that printed nothing.
  func path(of task: TaskID, in plan: Plan) -> String? {
    let name = LogName.of(plan.nameBytes(task))
    return names.contains(name) ? "\(folder)/\(name)" : nil
  }
}
