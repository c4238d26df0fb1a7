internal import OpflowBase
import OpflowCommandLine
internal import OpflowPlan
import OpflowRuntime

extension RunFolderLock {
  /// Waits for a holder on another machine, or takes over from it.
  static func take(
    _ folder: RunFolder, _ arguments: Invocation, _ console: Console
  ) throws(RunFolderError) -> RunFolderLock {
    if arguments.takesOver { return try takeOver(folder) }
    return try take(folder) { holder in
      console.warn(
        "run \(folder.id) is held by \(holder); waiting up to \(patienceMilliseconds / 1_000) s, "
          + "because a file system can keep the lock of a dead machine")
    }
  }
}

extension RunFolderError {
  fileprivate var isHeld: Bool {
    switch self {
    case .held, .heldElsewhere: true
    default: false
    }
  }
}

enum ResumeCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    // A live run cannot be resumed.
    let folder =
      if let named = arguments.run { try RunLookup.run(named, arguments.view) } else {
        try RunLookup.newestRun(arguments.view)
      }
    try SessionEnd.expect(arguments)
    return try resume(
      folder, manifest: nil, arguments, console, releasing: nil, nil, isInGroup: false)
  }

  /// `manifest` is nil to use the run's own. `choice` is released once this process holds the run,
  /// `gate` once the run is live. `isInGroup`: the concurrency group was entered, or does not
  /// matter. `round` is the file watch of a caller that runs several sessions.
  static func resume(
    _ folder: RunFolder, manifest: ManifestFile?, _ arguments: Invocation, _ console: Console,
    releasing choice: consuming StateFolderLock?, _ gate: consuming ConcurrencyGate?,
    isInGroup: Bool, round: ServingWatch? = nil
  ) throws(CommandError) -> Int32 {
    if arguments.isDryRun {
      let prepared = try prepare(folder, manifest, arguments, console)
      tellPlace(prepared, folder, arguments, console)
      return try Forecast.show(prepared, arguments, console)
    }
    try console.preparing(PreparedSession.expectMeans())
    let passed = round?.passed
    let lock: RunFolderLock
    do throws(RunFolderError) {
      if let kept = passed?.takeLock() {
        lock = kept
      } else {
        lock = try RunFolderLock.take(folder, arguments, console)
      }
    } catch {
      guard error.isHeld, !isInGroup,
        let group = ConcurrencyGroup(of: folder, asked: arguments.ifRunning),
        group.ifRunning == .wait
      else { throw CommandError(error) }
      _ = consume choice
      return try resume(folder, manifest, arguments, console, enteringFirst: group, but: nil, round)
    }
    _ = consume choice
    var prepared = try prepare(folder, manifest, arguments, console, passed?.held)
    if let code = prepared.nothingToDo {
      tellNothingToDo(prepared, folder, arguments, console)
      try SessionEnd.report(folder, arguments, console, isDriven: false)
      guard arguments.watchesFiles, round == nil else { return code }
      let serving = WatchedRun.attend(
        prepared.watch(arguments.file), of: folder, arguments, console)
      _ = consume lock
      return try WatchedRun.goOn(folder, serving, after: code, arguments, console)
    }
    let group = prepared.group
    // With services up, the run has stayed live.
    if !isInGroup, passed == nil, group.ifRunning != .allow {
      // Do not hold the run while waiting: another process may be about to resume it.
      _ = consume lock
      return try resume(
        folder, manifest, arguments, console, enteringFirst: group, but: folder.id, round)
    }
    tellPlace(prepared, folder, arguments, console)
    try console.preparing(prepared.expectRunnable { console.warn($0) })
    if let passed, !prepared.fits(passed) {
      passed.end(but: [])
      prepared = try prepare(folder, manifest, arguments, console)
      try console.preparing(prepared.takeSecrets { console.warn($0) })
    }
    let session: PreparedSession
    do throws(PreparationError) {
      session = try prepared.begin(holding: lock, passed: passed)
    } catch {
      throw CommandError(error, colored: console.colorsError)
    }
    round?.forgetPassed()
    _ = consume gate
    return try Session.perform(session, arguments, console, round: round)
  }

  /// Enters the group, perhaps after a wait, and decides again.
  private static func resume(
    _ folder: RunFolder, _ manifest: ManifestFile?, _ arguments: Invocation, _ console: Console,
    enteringFirst group: ConcurrencyGroup, but own: RunID?, _ round: ServingWatch?
  ) throws(CommandError) -> Int32 {
    let entry = try GroupEntry(group, but: own)
    let current = entry.hasWaited ? try manifest?.readAgain() : manifest
    return try resume(
      folder, manifest: current, arguments, console, releasing: nil, entry.takeApproval(),
      isInGroup: true, round: round)
  }

  private static func prepare(
    _ folder: RunFolder, _ manifest: ManifestFile?, _ arguments: Invocation, _ console: Console,
    _ held: HeldServices? = nil
  ) throws(CommandError) -> PreparedResume {
    let asked = RunRequest(arguments)
    let found = try console.preparing(ResumedRun(folder, manifest, asked))
    console.show(found.diagnostics)
    return try console.preparing(PreparedResume(found, asked, holding: held))
  }

  /// The services that a resume would keep now.
  static func staying(
    _ held: HeldServices, _ folder: RunFolder, _ arguments: Invocation, _ console: Console
  ) throws(CommandError) -> Set<TaskID> {
    let asked = RunRequest(arguments)
    return try console.preparing { () throws(PreparationError) in
      let prepared = try PreparedResume(try ResumedRun(folder, nil, asked), asked, holding: held)
      try prepared.expectNothingLeft()
      return prepared.stayingBefore
    }
  }

  /// Warns that a run continues only here, unless the command line says where.
  private static func tellPlace(
    _ prepared: PreparedResume, _ folder: RunFolder, _ arguments: Invocation, _ console: Console
  ) {
    if prepared.on.isEmpty || arguments.saysPlace { return }
    let command = CommandText.resume(folder, on: prepared.on, arguments.view)
    console.warn(
      "run \(folder.id) continues on this machine only; to use its nodes again: \(command)")
  }

  private static func tellNothingToDo(
    _ prepared: PreparedResume, _ folder: RunFolder, _ arguments: Invocation, _ console: Console
  ) {
    for warning in prepared.warnings { console.warn(warning) }
    Console.complain(
      "opflow: run \(folder.id) \(prepared.state.rawValue): there is nothing left to run\n")
    for task in prepared.keptFailures {
      let name = prepared.plan.nameString(task)
      let command = CommandText.resume(folder, on: prepared.on, arguments.view)
      Console.complain(
        "\(CleanText.string(name)) was interrupted and stays failed (on_interrupted: fail); to run"
          + " it again:\n  \(command) --rerun \(QuotedWords.quoted(name))\n")
    }
  }
}
