internal import OpflowCore
internal import OpflowSystem

/// The runs of one manifest.
package struct ManifestRuns: Sendable {
  let state: StateFolder
  let path: String
  /// How many runs the manifest wants to keep.
  package let keep: Int

  /// Removes old runs, within a short time limit. Does nothing if `runs` is a symbolic link.
  package func clean() throws(RunFolderError) -> RunCleaning {
    do throws(RunFolderError) {
      return try state.clean(
        ofManifest: path, keep: keep, nowMilliseconds: Clock.wallMilliseconds)
    } catch .link {
      return RunCleaning()
    }
  }
}
