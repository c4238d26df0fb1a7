import OpflowCommandLine
import OpflowCore
import OpflowRuntime
import OpflowSystem

/// Finds the live run for a request.
enum LiveRuns {
  /// `--run`, else the run around this task, else the only live run here.
  static func run(_ arguments: Invocation) throws(CommandError) -> RunFolder {
    if let named = arguments.run { return try live(named, arguments.view) }
    if let around = RunsAround.innermost { return try live(around.description, arguments.view) }
    let state = try RunLookup.state(arguments.view)
    let runs = try RunLookup.reading { () throws(RunFolderError) in
      try state.runs().map { state.folder(of: $0) }
    }
    var live: [RunFolder] = []
    for folder in runs {
      let isLive = try RunLookup.reading { () throws(RunFolderError) in
        try RunFolderLock.isHeld(folder)
      }
      if isLive { live.append(folder) }
    }
    let ids = live.map(\.id)
    live.removeAll { StateFolder.isPartOfAnother($0, among: ids) }
    if live.count == 1 { return live[0] }
    if live.count > 1 {
      let ids = live.prefix(5).map { $0.id.description }.joined(separator: ", ")
      throw CommandError(
        .usage,
        "\(live.count) runs are live here: \(ids)\(live.count > 5 ? ", …" : ""); --run says which")
    }
    let newest = try RunLookup.reading { () throws(RunFolderError) in try state.run(nil) }
    throw notLive(newest, arguments.view)
  }

  private static func live(
    _ reference: String, _ view: ViewArguments
  ) throws(CommandError) -> RunFolder {
    let folder = try RunLookup.run(reference, view)
    let isLive = try RunLookup.reading { () throws(RunFolderError) in
      try RunFolderLock.isHeld(folder)
    }
    if isLive { return folder }
    throw notLive(folder, view)
  }

  /// Waits for the plan if the run is just starting.
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
      // An error only means a shorter pause.
      try? PollSet.pause(nanoseconds: 10_000_000)
    }
  }

  /// From the lock to the plan, in nanoseconds.
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
