import OpflowCommandLine
import OpflowManifest

/// `opflow help`: all about a command, about the keys of a manifest, or about opflow.
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
