internal import OpflowBase
import OpflowCommandLine
internal import OpflowJournal
import OpflowRuntime
internal import OpflowViews

enum JournalCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let folder = try RunLookup.run(arguments.run, arguments.view)
    switch arguments.action {
    case .verify: return try verify(folder)
    case .export: try export(folder, console)
    case .repair: try repair(folder)
    }
    return ExitCode.success.rawValue
  }

  private static func verify(_ folder: RunFolder) throws(CommandError) -> Int32 {
    // First: a run that ends in between still counts as writing.
    let isHeld = try RunLookup.reading { () throws(RunFolderError) in
      try RunFolderLock.isHeld(folder)
    }
    // Damage can be reported without the plan, but not its meaning.
    var plan = try? folder.openPlan()
    var history = RunModel()
    let recovery = try RunLookup.reading { () throws(RunFolderError) -> JournalRecovery in
      if let known = plan {
        var journal = FollowedJournal(folder, plan: known)
        let recovery = try journal.lookToEnd()
        (plan, history) = (journal.plan, journal.model)
        return recovery
      }
      return try folder.withJournal { bytes throws(JournalError) in
        var reader = try JournalReader(bytes)
        while reader.next() != nil {}
        return reader.recovery
      }
    }
    let verdict = JournalVerdict(path: folder.journal, recovery: recovery, isHeld: isHeld)
    try Console.write(verdict.text(plan: plan, history: history))
    return verdict.isWhole ? ExitCode.success.rawValue : ExitCode.journal.rawValue
  }

  private static let pieceBytes = 64 * 1024

  private static func export(
    _ folder: RunFolder, _ console: Console
  ) throws(CommandError) {
    var failure: CommandError?
    let recovery = try RunLookup.reading { () throws(RunFolderError) -> JournalRecovery in
      try folder.withJournal { bytes throws(JournalError) in
        var reader = try JournalReader(bytes)
        var export = JournalExport()
        while failure == nil, let line = reader.next() {
          export.add(line)
          if export.byteCount >= pieceBytes { failure = write(export.take()) }
        }
        if failure == nil { failure = write(export.take()) }
        return reader.recovery
      }
    }
    if let failure { throw failure }
    for damage in recovery.damage { console.warn("\(folder.journal): \(damage.message)") }
  }

  private static func write(_ bytes: [UInt8]) -> CommandError? {
    do throws(CommandError) {
      try Console.write(bytes)
      return nil
    } catch {
      return error
    }
  }

  private static func repair(_ folder: RunFolder) throws(CommandError) {
    let done = try RunLookup.reading { () throws(RunFolderError) in
      let lock = try RunFolderLock.take(folder)
      let done = try JournalCleanCopy.replace(folder)
      _ = consume lock
      return done
    }
    guard let done else {
      try Console.write("\(CleanText.string(folder.journal)): nothing to repair\n")
      return
    }
    try Console.write(
      "\(CleanText.string(folder.journal)): \(done.recovery.lineCount) lines kept, "
        + "\(done.recovery.droppedLines) damaged ones left out; the old journal is "
        + "\(CleanText.string(done.old))\n")
  }
}
