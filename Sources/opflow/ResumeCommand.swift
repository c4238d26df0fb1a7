import OpflowCommandLine
import OpflowCore
import OpflowRuntime

/// `opflow resume`, and `opflow run --resume` where there is something to continue.
enum ResumeCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let folder = try RunLookup.run(arguments.run, arguments.view)
    return try resume(folder, manifest: nil, arguments, console, releasing: nil)
  }

  /// - Parameters:
  ///   - manifest: where the caller has read it; else it is looked for where the run says.
  ///   - choice: released as soon as the run is this process's.
  static func resume(
    _ folder: RunFolder, manifest: ManifestFile?, _ arguments: Invocation, _ console: Console,
    releasing choice: consuming StateFolderLock?
  ) throws(CommandError) -> Int32 {
    if arguments.isDryRun {
      let prepared = try prepare(folder, manifest, arguments, console)
      return try Forecast.show(prepared, arguments, console)
    }
    try console.preparing { () throws(PreparationError) in try PreparedDrive.expectProcesses() }
    let lock = try RunLookup.reading { () throws(RunFolderError) in
      try RunFolderLock.take(folder)
    }
    _ = consume choice
    var prepared = try prepare(folder, manifest, arguments, console)
    if let code = prepared.nothingToDo {
      tellNothingToDo(prepared, folder, arguments, console)
      return code
    }
    try console.preparing { () throws(PreparationError) in
      try prepared.expectTerminal(RunRequest(arguments))
      try prepared.takeSecrets(RunRequest(arguments)) { console.warn($0) }
    }
    let drive: PreparedDrive
    do throws(PreparationError) {
      drive = try prepared.begin(holding: lock)
    } catch {
      throw CommandError(error, colored: console.colorsError)
    }
    return try Drive.perform(drive, arguments, console)
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
