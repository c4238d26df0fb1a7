import OpflowCommandLine
internal import OpflowJournal
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem
internal import OpflowViews

enum StatusCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let folder = try RunLookup.run(arguments.run, arguments.view)
    if arguments.watches {
      try OwnRun.refuseToAwait(folder, "watching it")
      return try watch(folder, arguments, console)
    }
    let run = try RunLookup.reading(ReadRun(folder, keepingDetails: true))
    for warning in run.warnings { console.warn(warning) }
    var status = run.status
    for task in run.plan.downloadTasks where status.mayHavePart(task) {
      let part = run.plan.download(task).partPath
      // A file that cannot be checked is left out.
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
        status, resumeCommand: CommandText.resume(folder, on: status.history.on, arguments.view),
        nowMilliseconds: Clock.wallMilliseconds, showsAll: arguments.verbose,
        color: console.colorsOutput, columns: Terminal.size(Terminal.standardOutput)?.columns
      ) { CommandText.request(folder, $0, $1, shown) }
      try Console.write(view.text())
    }
    return ExitCode.success.rawValue
  }

  private static func watch(
    _ folder: RunFolder, _ arguments: Invocation, _ console: Console
  ) throws(CommandError) -> Int32 {
    let end: RunViewer.End
    do throws(RunFolderError) {
      let viewer = try RunViewer(folder, Session.progress(arguments, console)) {
        Session.heading(folder, $0, isResumed: $1, on: $2, arguments.view)
      } durations: {
        RunLookup.durations($0, folder, $1)
      }
      end = try viewer.view()
    } catch {
      guard Path.isMissing(folder.path) else { throw CommandError(error) }
      throw CommandError(.removed(run: folder.id.description))
    }
    switch end {
    case .left(nil), .unread: return ExitCode.success.rawValue
    case .left(let signal?):
      Session.stopSignal = signal
      return 128 + signal.rawValue
    case .closed(let close): return close.exitCode
    case .died(let on): return WaitCommand.died(folder, on: on, arguments)
    }
  }
}
