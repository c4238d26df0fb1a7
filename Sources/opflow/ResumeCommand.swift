import OpflowCommandLine
import OpflowCore
import OpflowManifest
import OpflowRuntime
import OpflowSystem

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
      let prepared = try PreparedResume(folder, manifest, arguments, console)
      return try prepared.forecast(arguments, console)
    }
    try Drive.expectProcesses()
    let lock = try RunLookup.reading { () throws(RunFolderError) in
      try RunFolderLock.take(folder)
    }
    _ = consume choice
    let prepared = try PreparedResume(folder, manifest, arguments, console)
    if let code = prepared.nothingToDo {
      for warning in prepared.warnings { console.warn(warning) }
      Console.complain(
        "opflow: run \(folder.id) \(prepared.verdict): nothing is left to run\n")
      for task in prepared.keptFailures {
        let name = prepared.plan.nameString(task)
        let command = CommandText.about(folder, "resume", [folder.id.description], arguments.view)
        Console.complain(
          "\(name) is not to be run twice (on_interrupted: fail); when it may be:\n"
            + "  \(command) --rerun \(name)\n")
      }
      return code
    }
    if prepared.isNewPlan {
      try RunLookup.reading { () throws(RunFolderError) in
        try folder.write(plan: prepared.planBytes)
      }
    }
    var drive = Drive(folder, prepared.plan, arguments, console, initial: prepared.initial)
    drive.isResumed = true
    drive.attempts = prepared.attempts
    drive.opening = prepared.opening
    drive.warnings = prepared.warnings
    drive.owesFinally = prepared.owesFinally
    drive.durations = prepared.durations
    // So that no task runs beside its own orphan. What a run that this one is a copy of drives now is
    // that one's.
    let isCopyOfLive = prepared.original.flatMap { try? RunFolderLock.isHeld($0) } ?? false
    if !isCopyOfLive {
      for survivor in Orphans.end(
        run: folder.id.description, runFolder: folder.path, workers: prepared.history.workers)
      {
        drive.warnings.append("process \(survivor) of an earlier drive could not be ended")
      }
    }
    let journal = try RunLookup.reading { () throws(RunFolderError) in
      try JournalFile.reopen(
        folder.journal, repair: prepared.recovery.repair, encoder: prepared.history.encoder)
    }
    return try drive.perform(journal, holding: lock)
  }
}
