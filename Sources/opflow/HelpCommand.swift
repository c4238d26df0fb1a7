import OpflowCommandLine
import OpflowManifest

enum HelpCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    try Console.write(try text(arguments))
    return ExitCode.success.rawValue
  }

  private static func text(_ arguments: Invocation) throws(CommandError) -> String {
    guard let key = arguments.manifestKey else { return HelpText.text(arguments.topic) }
    if key.isEmpty { return ManifestReference.list }
    do throws(UnknownKey) {
      return try ManifestReference.help(on: key)
    } catch {
      throw CommandError(UsageError("help manifest: \(error.message)"))
    }
  }
}
