import OpflowCommandLine
internal import OpflowJournal
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem
internal import OpflowViews

enum RunsCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let state = try RunLookup.state(arguments.view)
    let ids = try RunLookup.reading { () throws(RunFolderError) in try state.runs() }
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
      return RunsView.Row(run.status, manifest: shown.text(manifest))
    } catch {
      if Path.isMissing(folder.path) { return nil }
      if case .journal(_, .empty) = error {
        return RunsView.Row(notBegun: folder.id.description)
      }
      return RunsView.Row(unreadable: folder.id.description, complaint: error.message)
    }
  }
}
