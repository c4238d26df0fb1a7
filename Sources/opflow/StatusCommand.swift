import OpflowCommandLine
import OpflowCore
import OpflowRuntime
import OpflowSystem

/// `opflow status`: where a run stands.
enum StatusCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let folder = try RunLookup.run(arguments.run, arguments.view)
    let run = try RunLookup.reading { () throws(RunFolderError) in
      try ReadRun(folder, keepingDetails: true)
    }
    run.warn(console)
    var status = run.status
    for task in run.plan.downloadTasks where status.mayHavePart(task) {
      let part = run.plan.download(task).partPath
      // Where it cannot be looked at, nothing is told.
      if let found = try? Path.linkStatus(part), found.kind == .file, found.sizeBytes > 0 {
        status.keptBytes[task] = found.sizeBytes
      }
    }
    if arguments.json {
      let logs = RunLogs(folder)
      let text = StatusJSON.text(status, nowMilliseconds: Clock.wallMilliseconds) {
        logs.path(of: $0, in: run.plan)
      }
      try Console.write(text)
    } else {
      let view = StatusView(
        status,
        resumeCommand: CommandText.about(folder, "resume", [status.run], arguments.view),
        nowMilliseconds: Clock.wallMilliseconds, showsAll: arguments.verbose,
        color: console.colorsOutput, columns: Terminal.size(Terminal.standardOutput)?.columns)
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
