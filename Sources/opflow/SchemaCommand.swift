import OpflowCommandLine
import OpflowManifest

/// `opflow schema`: what an editor is to know of manifests.
enum SchemaCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    try Console.write(ManifestSchema.text)
    return ExitCode.success.rawValue
  }
}
