import OpflowCommandLine
import OpflowManifest

enum SchemaCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    try Console.write(ManifestSchema.text)
    return ExitCode.success.rawValue
  }
}
