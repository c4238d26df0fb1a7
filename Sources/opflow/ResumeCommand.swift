import OpflowCommandLine
import OpflowCore
import OpflowRuntime

/// `opflow resume`, and `opflow run --resume` where there is something to continue.
enum ResumeCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let folder = try RunLookup.run(arguments.run, arguments.view)
    try DriveEnd.expect(arguments)
    return try resume(
      folder, manifest: nil, arguments, console, releasing: nil, nil, isInGroup: false)
  }

  /// - Parameters:
  ///   - manifest: where the caller has read it; else it is looked for where the run says.
  ///   - choice: released as soon as the run is this process's.
  ///   - gate: likewise.
  ///   - isInGroup: no other run of its group is live, or that is no matter.
  ///   - round: of a caller that performs others.
  static func resume(
    _ folder: RunFolder, manifest: ManifestFile?, _ arguments: Invocation, _ console: Console,
    releasing choice: consuming StateFolderLock?, _ gate: consuming RunGroupGate?, isInGroup: Bool,
    round: ServingWatch? = nil
  ) throws(CommandError) -> Int32 {
    if arguments.isDryRun {
      let prepared = try prepare(folder, manifest, arguments, console)
      return try Forecast.show(prepared, arguments, console)
    }
    try console.preparing { () throws(PreparationError) in try PreparedDrive.expectMeans() }
    let lock: RunFolderLock
    do throws(RunFolderError) {
      lock = try RunFolderLock.take(folder)
    } catch {
      guard case .held = error, !isInGroup,
        let group = RunGroup(of: folder, asked: arguments.ifRunning), group.ifRunning == .wait
      else { throw CommandError(error) }
      _ = consume choice
      return try resume(folder, manifest, arguments, console, enteringFirst: group, but: nil, round)
    }
    _ = consume choice
    var prepared = try prepare(folder, manifest, arguments, console)
    if let code = prepared.nothingToDo {
      tellNothingToDo(prepared, folder, arguments, console)
      try DriveEnd.report(folder, arguments, console, isDriven: false)
      guard arguments.watchesFiles, round == nil else { return code }
      let serving = WatchedRun.attend(
        prepared.watch(arguments.file), of: folder, arguments, console)
      _ = consume lock
      return try WatchedRun.goOn(folder, serving, after: code, arguments, console)
    }
    let group = prepared.group(RunRequest(arguments))
    if !isInGroup, group.ifRunning != .allow {
      // The run is not held while this waits for others: one of them may be about to continue it.
      _ = consume lock
      return try resume(
        folder, manifest, arguments, console, enteringFirst: group, but: folder.id, round)
    }
    try console.preparing { () throws(PreparationError) in
      try prepared.expectTerminal(RunRequest(arguments))
      try prepared.expectMemoryLimits(RunRequest(arguments))
      try prepared.takeSecrets(RunRequest(arguments)) { console.warn($0) }
    }
    let drive: PreparedDrive
    do throws(PreparationError) {
      drive = try prepared.begin(holding: lock)
    } catch {
      throw CommandError(error, colored: console.colorsError)
    }
    _ = consume gate
    return try Drive.perform(drive, arguments, console, round: round)
  }

  /// Comes into the group, which others may have to leave, and looks anew at what is to be done then.
  private static func resume(
    _ folder: RunFolder, _ manifest: ManifestFile?, _ arguments: Invocation, _ console: Console,
    enteringFirst group: RunGroup, but own: RunID?, _ round: ServingWatch?
  ) throws(CommandError) -> Int32 {
    let entry = try GroupEntry(group, but: own)
    let current = entry.hasWaited ? try manifest?.readAgain() : manifest
    return try resume(
      folder, manifest: current, arguments, console, releasing: nil, entry.takeGate(),
      isInGroup: true, round: round)
  }

  private static func prepare(
    _ folder: RunFolder, _ manifest: ManifestFile?, _ arguments: Invocation, _ console: Console
  ) throws(CommandError) -> PreparedResume {
    let asked = RunRequest(arguments)
    let found = try console.preparing { () throws(PreparationError) in
      try ResumedRun(folder, manifest, asked)
    }
    console.show(found.diagnostics)
    return try console.preparing { () throws(PreparationError) in
      try PreparedResume(found, asked)
    }
  }

  /// Why a run could not be resumed with the manifest as it is now; nil where it could.
  static func obstacle(
    _ folder: RunFolder, _ arguments: Invocation, _ console: Console
  ) -> CommandError? {
    let asked = RunRequest(arguments)
    do throws(PreparationError) {
      _ = try PreparedResume(try ResumedRun(folder, nil, asked), asked)
      return nil
    } catch {
      return CommandError(error, colored: console.colorsError)
    }
  }

  private static func tellNothingToDo(
    _ prepared: PreparedResume, _ folder: RunFolder, _ arguments: Invocation, _ console: Console
  ) {
    for warning in prepared.warnings { console.warn(warning) }
    Console.complain(
      "opflow: run \(folder.id) \(prepared.state.rawValue): nothing is left to run\n")
    for task in prepared.keptFailures {
      let name = prepared.plan.nameString(task)
      let command = CommandText.about(folder, "resume", [folder.id.description], arguments.view)
      Console.complain(
        "\(name) is not to be run twice (on_interrupted: fail); when it may be:\n"
          + "  \(command) --rerun \(name)\n")
    }
  }
}
