import OpflowCommandLine
import OpflowCore
import OpflowRuntime

/// `opflow run`: a new run of a manifest; with `--resume` the newest one goes on where it can.
enum RunCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let manifest = try ManifestLookup.manifest(arguments.file, naming: arguments.tasks)
    let state = try RunLookup.state(arguments.view, for: manifest)
    if arguments.resumesNewest { return try resumeOrStart(manifest, state, arguments, console) }
    return try start(
      prepare(manifest, state, arguments, console), manifest, state, arguments, console,
      releasing: nil)
  }

  /// `run --resume`: from the look for the run to its lock nobody else chooses one here.
  private static func resumeOrStart(
    _ manifest: ManifestFile, _ state: StateFolder, _ arguments: Invocation, _ console: Console
  ) throws(CommandError) -> Int32 {
    // Where there are no runs yet, a mistake of the manifest leaves no folder behind.
    let early = state.isThere ? nil : try prepare(manifest, state, arguments, console)
    var choice: StateFolderLock?
    if !arguments.isDryRun {
      choice = try RunLookup.reading { () throws(RunFolderError) in
        try StateFolderLock.take(state) { holder in
          let name = holder.map { "process \($0)" } ?? "another process"
          console.warn("\(name) is about to run or resume something here; waiting for it")
        }
      }
    }
    let run = try RunLookup.reading { () throws(RunFolderError) -> RunFolder? in
      try state.resumable(ofManifest: manifest.realPath, RunRequest(arguments))
    }
    if let run {
      return try ResumeCommand.resume(
        run, manifest: manifest, arguments, console, releasing: choice)
    }
    let new = if let early { early } else { try prepare(manifest, state, arguments, console) }
    return try start(new, manifest, state, arguments, console, releasing: choice)
  }

  private static func prepare(
    _ manifest: ManifestFile, _ state: StateFolder, _ arguments: Invocation, _ console: Console
  ) throws(CommandError) -> NewRun {
    var new = try console.preparing { () throws(PreparationError) in
      try NewRun(manifest, state, RunRequest(arguments))
    }
    console.show(new.warnings)
    try console.preparing { () throws(PreparationError) in try new.selectTasks() }
    return new
  }

  /// - Parameter choice: released when the first line of the run tells others of it.
  private static func start(
    _ new: consuming NewRun, _ manifest: ManifestFile, _ state: StateFolder,
    _ arguments: Invocation, _ console: Console, releasing choice: consuming StateFolderLock?
  ) throws(CommandError) -> Int32 {
    if arguments.isDryRun { return try Forecast.show(&new, arguments, console) }
    try console.preparing { () throws(PreparationError) in try PreparedDrive.expectProcesses() }
    try console.preparing { () throws(PreparationError) in
      try new.expectTerminal()
      try new.takeSecrets { console.warn($0) }
    }
    let warnings = unfinished(state.newestState(ofManifest: manifest.realPath))
    var drive = try new.begin(console)
    _ = consume choice
    drive.warnings = warnings
    return try Drive.perform(drive, arguments, console)
  }

  /// What is to be said of the newest run of the same manifest, when that did not end.
  private static func unfinished(_ newest: (run: RunID, state: RunState)?) -> [String] {
    guard let (run, state) = newest else { return [] }
    switch state {
    case .running: return ["run \(run) of this manifest is still running"]
    case .interrupted, .cancelled:
      return [
        "the newest run of this manifest, \(run), did not end; this one starts anew. "
          + "`opflow resume \(run)` would have continued it"
      ]
    case .succeeded, .failed: return []
    }
  }
}

extension NewRun {
  fileprivate consuming func begin(_ console: Console) throws(CommandError) -> PreparedDrive {
    do throws(PreparationError) {
      return try begin()
    } catch {
      throw CommandError(error, colored: console.colorsError)
    }
  }
}
