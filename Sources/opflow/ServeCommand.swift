internal import OpflowBase
import OpflowCommandLine
import OpflowRuntime

enum ServeCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    try DriveEnd.expect(arguments)
    var arguments = arguments
    let manifest = try manifest(arguments, console)
    if arguments.file != nil { arguments.file = manifest.displayPath }
    let state = try RunLookup.state(arguments.view, for: manifest)
    // In a new place, errors in the manifest must not leave a folder.
    let early = state.isThere ? nil : try RunCommand.prepare(manifest, state, arguments, console)
    // Held until the first journal line, so that the run's name stays unique.
    let choice = try RunCommand.choose(state, arguments, console)
    if !arguments.name.isEmpty { try expectFree(arguments.name, in: state, arguments.view) }
    let new =
      if let early { early } else {
        try RunCommand.prepare(manifest, state, arguments, console)
      }
    if arguments.output != .quiet {
      let run = arguments.name.isEmpty ? "" : " --run \(CleanText.string(arguments.name))"
      Console.complain(
        "opflow: the run stays open: `opflow add\(run) FILE` adds tasks, `opflow close\(run)` lets "
          + "it end\n"
      )
    }
    return try RunCommand.start(
      new, manifest, state, arguments, console, releasing: choice, nil)
  }

  private static func manifest(
    _ arguments: Invocation, _ console: Console
  ) throws(CommandError) -> ManifestFile {
    guard let file = arguments.file else {
      return try console.preparing { () throws(PreparationError) in
        try ManifestFile.none(named: arguments.name)
      }
    }
    var manifest = try ManifestLookup.read(ManifestFile.path(file))
    manifest.mayBeEmpty = true
    return manifest
  }

  private static func expectFree(
    _ name: String, in state: StateFolder, _ view: ViewArguments
  ) throws(CommandError) {
    guard state.isThere else { return }
    let other = try RunLookup.reading { () throws(RunFolderError) -> RunFolder? in
      guard let run = try state.run(named: name), try RunFolderLock.isHeld(run) else { return nil }
      return run
    }
    guard let other else { return }
    let shown = CleanText.string(name)
    throw CommandError(
      .held,
      "run \(other.id) is live and is called `\(shown)`: `opflow add --run \(shown)` adds to it")
  }
}
