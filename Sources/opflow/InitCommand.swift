internal import OpflowBase
import OpflowCommandLine
import OpflowManifest
import OpflowRuntime
import OpflowSystem

enum InitCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    _ = try Console.enter(arguments.view)
    let path = ManifestFile.path(arguments.file ?? ManifestFile.defaultName)
    if path == ManifestFile.standardInput {
      try Console.write(FirstManifest.text)
      return ExitCode.success.rawValue
    }
    let shown = CleanText.string(path)
    do throws(Errno) {
      let file = try File.open(path, [.writeOnly, .create, .exclusive], mode: 0o666)
      try file.writeAll(Array(FirstManifest.text.utf8))
      try file.close()
    } catch .exists {
      throw CommandError(
        .usage, "\(shown) is there already, and stays as it is; `opflow check` reads it")
    } catch {
      throw CommandError(.io, "cannot write \(shown)", error)
    }
    let name = arguments.file == nil ? "" : " \(shown)"
    try Console.write("\(shown) is written: `opflow run\(name)` runs it\n")
    return ExitCode.success.rawValue
  }
}
