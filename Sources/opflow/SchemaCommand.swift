import OpflowCommandLine
import OpflowManifest

/// `opflow schema`: the JSON schema of manifests, for editors.
enum SchemaCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    try Console.write(ManifestSchema.text)
    return ExitCode.success.rawValue
  }
}
