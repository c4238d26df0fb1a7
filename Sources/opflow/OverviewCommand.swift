import OpflowCommandLine
import OpflowCore
import OpflowManifest
import OpflowRuntime
import OpflowSystem

/// `opflow` alone: the tasks of the manifest that is here or above, and its newest run; the help where
/// there is none.
enum OverviewCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    guard let path = try ManifestLookup.nearest() else {
      try Console.write(HelpText.text(nil))
      return ExitCode.success.rawValue
    }
    let manifest = try ManifestLookup.read(path)
    let compiled = try console.preparing { () throws(PreparationError) in
      try manifest.compile(runID: "overview", set: [], maxParallel: nil)
    }
    console.show(compiled.warnings)
    let plan = try console.preparing { () throws(PreparationError) in try compiled.openPlan() }
    let state = try RunLookup.state(arguments.view, for: manifest)
    try Console.write(
      TasksView.text(
        plan, manifest: manifest.displayPath, newest: newest(manifest, state),
        nowMilliseconds: Clock.wallMilliseconds, color: console.colorsOutput))
    return ExitCode.success.rawValue
  }

  /// A run that cannot be read is told by `opflow runs`.
  private static func newest(_ manifest: ManifestFile, _ state: StateFolder) -> RunStatus? {
    guard let folder = try? state.newestRun(ofManifest: manifest.realPath) else { return nil }
    return (try? ReadRun(folder))?.status
  }
}
