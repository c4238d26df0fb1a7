import OpflowCommandLine
internal import OpflowJournal
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem
internal import OpflowViews

enum LiveRuns {
  /// `--run`, else the run around this task, else the only live run here.
  static func run(_ arguments: Invocation) throws(CommandError) -> RunFolder {
    let view = arguments.view
    let folder =
      if let named = arguments.run { try RunLookup.run(named, view) } else {
        try RunLookup.defaultRun(view, isAsked: true)
      }
    let isLive = try RunLookup.reading { () throws(RunFolderError) in
      try RunFolderLock.isHeld(folder)
    }
    if isLive { return folder }
    throw notLive(folder, view)
  }

  /// Waits for the plan of a run that is just starting.
  static func plan(_ folder: RunFolder, _ view: ViewArguments) throws(CommandError) -> Plan {
    let deadline = Clock.monotonicNanoseconds + patience
    while true {
      do throws(RunFolderError) {
        return try folder.openPlan()
      } catch {
        guard case .file(_, folder.plan, .noSuchFile) = error else { throw CommandError(error) }
        guard (try? RunFolderLock.isHeld(folder)) == true else { throw notLive(folder, view) }
        if Clock.monotonicNanoseconds > deadline { throw CommandError(error) }
      }
      // An error only shortens the pause.
      try? PollSet.pause(nanoseconds: 10_000_000)
    }
  }

  /// Nanoseconds from the lock to the plan.
  private static let patience: Int64 = 3_000_000_000

  static func notLive(_ folder: RunFolder, _ view: ViewArguments) -> CommandError {
    let run = folder.id
    guard let status = try? ReadRun(folder).status else {
      return CommandError(.usage, "run \(run) is not live")
    }
    var text =
      "run \(run) is not live: "
      + OrderView.state(status, nowMilliseconds: Clock.wallMilliseconds)
    if status.state != .succeeded, status.state != .running {
      let resume = CommandText.resume(folder, on: status.history.on, view)
      text += "; `\(resume)` continues it"
    }
    return CommandError(.usage, text)
  }
}
