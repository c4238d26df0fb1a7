internal import OpflowBase
import OpflowCommandLine

enum VersionCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    try Console.write("opflow \(Version.text)\n")
    return ExitCode.success.rawValue
  }
}
