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
    for warning in run.warnings { console.warn(warning) }
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
      let shown = arguments.view
      let view = StatusView(
        status,
        resumeCommand: CommandText.about(folder, "resume", [status.run], arguments.view),
        nowMilliseconds: Clock.wallMilliseconds, showsAll: arguments.verbose,
        color: console.colorsOutput, columns: Terminal.size(Terminal.standardOutput)?.columns
      ) { CommandText.about(folder, $0.rawValue, [$1], shown) }
      try Console.write(view.text())
    }
    return ExitCode.success.rawValue
  }
}
