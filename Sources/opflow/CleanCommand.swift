internal import OpflowBase
import OpflowCommandLine
internal import OpflowJournal
import OpflowManifest
import OpflowRuntime
import OpflowSystem
internal import OpflowViews

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
    let cleaning = try RunLookup.reading { () throws(RunFolderError) in
      try state.clean(limits, nowMilliseconds: now, isDryRun: arguments.isDryRun)
    }
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

  private static func limits(
    _ arguments: Invocation
  ) throws(CommandError) -> RunRetention.Limits {
    var limits = RunRetention.Limits(keep: arguments.keep.map { Int($0) })
    if let text = arguments.olderThan {
      guard let milliseconds = WrittenDuration.milliseconds(text) else {
        throw CommandError(
          UsageError(
            "--older-than needs a duration such as 12h, 7d or 1h30m, not "
              + "`\(CleanText.string(text))`",
            command: .clean))
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
        told = "an old run is left: \(failure.error.message)"
      } else if cleaning.gone.count > (arguments.verbose ? 0 : 1) {
        told = CleanView.ofEnd(count: cleaning.gone.count, keep: runs.keep)
      } else {
        return
      }
    } catch {
      told = "old runs are left: \(error.message)"
    }
    // With a time limit: standard error may have no reader.
    let line = Array("opflow: \(CleanText.string(told))\n".utf8)
    try? StandardStream.error.writeAll(line, patienceMilliseconds: 1000)
  }
}
