internal import OpflowBase
import OpflowCommandLine
internal import OpflowJournal
import OpflowManifest
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem
internal import OpflowViews

enum RunsCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let state = try RunLookup.state(arguments.view)
    let ids = try RunLookup.reading(state.runs())
    if ids.isEmpty { throw CommandError(.usage, RunFolderError.noRuns(folder: state.path).message) }
    let shown = ShownPath(arguments.view)
    let rows = ids.compactMap { row(state.folder(of: $0), shown) }
    try Console.write(
      RunsView.text(
        rows, nowMilliseconds: Clock.wallMilliseconds, color: console.colorsOutput,
        columns: Terminal.size(Terminal.standardOutput)?.columns))
    return ExitCode.success.rawValue
  }

  /// nil for a run that was removed meanwhile.
  private static func row(_ folder: RunFolder, _ shown: ShownPath) -> RunsView.Row? {
    do throws(RunFolderError) {
      let run = try ReadRun(folder)
      let manifest = run.history.open.map { RunManifest($0, folder).realPath } ?? ""
      return .run(run.status, manifest: shown.text(manifest))
    } catch {
      if Path.isMissing(folder.path) { return nil }
      if case .journal(_, .empty) = error {
        return .notBegun(run: folder.id.description)
      }
      return .unreadable(run: folder.id.description, complaint: error.message)
    }
  }
}

enum CleanCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let limits = try limits(arguments)
    let state = try RunLookup.state(arguments.view)
    let shown = ShownPath(arguments.view)
    // It may be another project's.
    let here = try RunLookup.workingDirectory()
    if arguments.view.stateDirectory == nil, Path.parent(of: state.path) != here {
      Console.complain("opflow: using \(CleanText.string(shown.text(state.path)))\n")
    }
    let now = Clock.wallMilliseconds
    let cleaning = try RunLookup.reading(
      state.clean(limits, nowMilliseconds: now, isDryRun: arguments.isDryRun))
    let rows = cleaning.gone.map { gone in
      CleanView.Row(
        run: gone.run, manifest: gone.open.map { shown.text($0.manifest(seenFrom: state.path)) },
        end: gone.end, ageMilliseconds: now - gone.lastMilliseconds, bytes: UInt64(gone.bytes))
    }
    var view = CleanView(rows, left: cleaning.kept, isDryRun: arguments.isDryRun)
    view.live = cleaning.live
    view.resumable = cleaning.resumable
    view.unreadable = cleaning.unknown
    try Console.write(
      view.text(
        color: console.colorsOutput, columns: Terminal.size(Terminal.standardOutput)?.columns))
    for failure in cleaning.failures { console.warn(failure.error.message) }
    return (cleaning.failures.isEmpty ? ExitCode.success : .io).rawValue
  }

  private static func limits(_ arguments: Invocation) throws(CommandError) -> RunRetention.Limits {
    var limits = RunRetention.Limits(keep: arguments.keep.map { Int($0) })
    if let text = arguments.olderThan {
      // A bare number would be seconds: `--older-than 7` would remove nearly all runs.
      let hasUnit = text == "0" || text.utf8.last.map { !(48...57).contains($0) } == true
      guard hasUnit, let milliseconds = WrittenDuration.milliseconds(text) else {
        throw CommandError(
          UsageError(
            "--older-than needs a duration with a unit, such as 12h, 7d or 1h30m, not "
              + "`\(CleanText.string(text))`", command: .clean))
      }
      limits.ageMilliseconds = Int64(milliseconds)
    }
    return limits
  }

  static func afterRun(_ runs: ManifestRuns, _ arguments: Invocation) {
    let told: String
    do throws(RunFolderError) {
      let cleaning = try runs.clean()
      if let failure = cleaning.failures.first {
        told = "opflow did not remove all old runs: \(failure.error.message)"
      } else if cleaning.gone.count > (arguments.verbose ? 0 : 1) {
        told = CleanView.ofEnd(count: cleaning.gone.count, keep: runs.keep)
      } else {
        return
      }
    } catch {
      told = "opflow did not remove old runs: \(error.message)"
    }
    // With a time limit: standard error may have no reader.
    let line = Array("opflow: \(CleanText.string(told))\n".utf8)
    try? StandardStream.error.writeAll(line, patienceMilliseconds: 1000)
  }
}

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
    let isHeld = try RunLookup.reading(RunFolderLock.isHeld(folder))
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

  private static func export(_ folder: RunFolder, _ console: Console) throws(CommandError) {
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
      "\(CleanText.string(folder.journal)): kept \(done.recovery.lineCount) lines, removed "
        + "\(done.recovery.droppedLines) damaged lines; the old journal is "
        + "\(CleanText.string(done.old))\n")
  }
}
