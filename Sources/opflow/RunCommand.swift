import OpflowCommandLine
internal import OpflowPlan
import OpflowRuntime

enum RunCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    try perform(arguments, Console.enter(arguments.view))
  }

  static func perform(
    _ arguments: Invocation, _ console: Console
  ) throws(CommandError) -> Int32 {
    try DriveEnd.expect(arguments)
    let manifest = try ManifestLookup.manifest(arguments.file, naming: arguments.tasks)
    var arguments = arguments
    // Later sessions use the manifest found now.
    arguments.file = manifest.displayPath
    let state = try RunLookup.state(arguments.view, for: manifest)
    if arguments.resumesNewest { return try resumeOrStart(manifest, state, arguments, console) }
    if let around = TaskAround.triedAgain, manifest.realPath != "-" {
      return try resumeOrStart(manifest, state, arguments, console, of: around)
    }
    let new = try prepare(manifest, state, arguments, console)
    if arguments.isDryRun || new.group.ifRunning == .allow {
      return try start(new, manifest, state, arguments, console, releasing: nil, nil)
    }
    let entry = try GroupEntry(new.group)
    let current =
      entry.hasWaited
      ? try prepare(manifest.readAgain(), state, arguments, console, isAgain: true) : new
    return try start(
      current, manifest, state, arguments, console, releasing: nil, entry.takeGate())
  }

  /// `run --resume`, and a run by a task that is retried (`around`: only runs of that task).
  /// Between the search and the run's lock no other process may choose a run here.
  private static func resumeOrStart(
    _ manifest: ManifestFile, _ state: StateFolder, _ arguments: Invocation, _ console: Console,
    of around: TaskAround? = nil
  ) throws(CommandError) -> Int32 {
    var request = RunRequest(arguments)
    request.around = around
    // In a new place, errors in the manifest must not leave a folder.
    var early = state.isThere ? nil : try prepare(manifest, state, arguments, console)
    var manifest = manifest
    var gate: RunGroupGate?
    var isInGroup = false
    var hasWaited = false
    while true {
      let choice = try choose(state, arguments, console)
      let run: RunFolder?
      do throws(RunFolderError) {
        run = try state.resumable(ofManifest: manifest.realPath, request)
      } catch {
        if error.holderElsewhere != nil, !hasWaited, !arguments.isDryRun,
          case .held(let name, _) = error, let id = RunID(name)
        {
          _ = consume choice
          try waitForOther(state.folder(of: id), arguments, console)
          hasWaited = true
          early = nil
          manifest = try manifest.readAgain()
          continue
        }
        guard !arguments.isDryRun, let group = group(holding: error, state, arguments) else {
          throw CommandError(error)
        }
        // Hold neither while waiting.
        _ = consume choice
        gate = nil
        gate = try GroupEntry(group).takeGate()
        isInGroup = true
        early = nil
        manifest = try manifest.readAgain()
        continue
      }
      if let run {
        return try ResumeCommand.resume(
          run, manifest: manifest, arguments, console, releasing: choice, gate,
          isInGroup: isInGroup)
      }
      let new = if let early { early } else { try prepare(manifest, state, arguments, console) }
      if arguments.isDryRun || isInGroup || new.group.ifRunning == .allow {
        return try start(new, manifest, state, arguments, console, releasing: choice, gate)
      }
      _ = consume choice
      let entry = try GroupEntry(new.group)
      if entry.hasWaited { manifest = try manifest.readAgain() }
      early = entry.hasWaited ? nil : new
      gate = entry.takeGate()
      isInGroup = true
    }
  }

  private static func waitForOther(
    _ run: RunFolder, _ arguments: Invocation, _ console: Console
  ) throws(CommandError) {
    do throws(RunFolderError) {
      _ = try RunFolderLock.take(run, arguments, console)
    } catch {
      throw CommandError(error)
    }
  }

  static func choose(
    _ state: StateFolder, _ arguments: Invocation, _ console: Console
  ) throws(CommandError) -> StateFolderLock? {
    if arguments.isDryRun { return nil }
    return try RunLookup.reading { () throws(RunFolderError) in
      try StateFolderLock.take(state) { holder in
        let name = holder?.description ?? "another process"
        console.warn("\(name) is about to run or resume something here; waiting for it")
      }
    }
  }

  /// nil unless waiting for it was requested.
  private static func group(
    holding error: RunFolderError, _ state: StateFolder, _ arguments: Invocation
  ) -> RunGroup? {
    guard case .held(let name, _) = error, let id = RunID(name) else { return nil }
    let group = RunGroup(of: state.folder(of: id), asked: arguments.ifRunning)
    return group?.ifRunning == .wait ? group : nil
  }

  /// `isAgain`: the warnings were shown already.
  static func prepare(
    _ manifest: ManifestFile, _ state: StateFolder, _ arguments: Invocation, _ console: Console,
    isAgain: Bool = false
  ) throws(CommandError) -> NewRun {
    var new = try console.preparing { () throws(PreparationError) in
      try NewRun(manifest, state, RunRequest(arguments))
    }
    if !isAgain { console.show(new.warnings) }
    try console.preparing { () throws(PreparationError) in try new.selectTasks() }
    return new
  }

  /// Releases `choice` and `gate` once the run's first journal line exists.
  static func start(
    _ new: consuming NewRun, _ manifest: ManifestFile, _ state: StateFolder,
    _ arguments: Invocation, _ console: Console, releasing choice: consuming StateFolderLock?,
    _ gate: consuming RunGroupGate?
  ) throws(CommandError) -> Int32 {
    if arguments.isDryRun { return try Forecast.show(&new, arguments, console) }
    try console.preparing { () throws(PreparationError) in try PreparedDrive.expectMeans() }
    try console.preparing { () throws(PreparationError) in
      try RunRequest(arguments).expectPrograms()
      try new.expectNotAround()
      try new.expectTerminal()
      try new.expectDevices()
      try new.expectMemoryLimits()
      try new.takeSecrets { console.warn($0) }
    }
    let warnings =
      unfinished(state.newestState(ofManifest: manifest.realPath), in: state, arguments.view)
      + beside(new.group)
    var drive = try new.begin(console)
    _ = consume choice
    _ = consume gate
    drive.warn(warnings)
    return try Drive.perform(drive, arguments, console)
  }

  private static func unfinished(
    _ newest: (run: RunID, state: RunState, on: [String])?, in folder: StateFolder,
    _ view: ViewArguments
  ) -> [String] {
    guard let (run, state, on) = newest else { return [] }
    switch state {
    case .running: return ["run \(run) of this manifest is still running"]
    case .interrupted, .cancelled:
      let resume = CommandText.resume(folder.folder(of: run), on: on, view)
      return [
        "the newest run of this manifest, \(run), did not end; this one starts anew. "
          + "`\(resume)` would have continued it"
      ]
    case .succeeded, .failed: return []
    }
  }

  /// Warns of a live run of another manifest.
  private static func beside(_ group: RunGroup) -> [String] {
    guard group.isNamed, let member = try? group.live() else { return [] }
    return ["run \(member.folder.id) \(group.title) is still running"]
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

extension ManifestFile {
  /// Standard input can be read only once.
  func readAgain() throws(CommandError) -> ManifestFile {
    if realPath == ManifestFile.standardInput { return self }
    return try ManifestLookup.read(displayPath)
  }
}
