internal import OpflowCore
internal import OpflowSystem

/// The runs of one manifest in a state folder.
package struct ManifestRuns: Sendable {
  let state: StateFolder
  /// The manifest's real path.
  let path: String
  /// How many the manifest wants to be kept.
  package let keep: Int

  /// Removes old ones, for an instant at most. Where `runs` is a link it is left alone.
  package func clean() throws(RunFolderError) -> RunCleaning {
    do throws(RunFolderError) {
      return try state.clean(
        ofManifest: path, keep: keep, nowMilliseconds: Clock.wallMilliseconds)
    } catch .link {
      return RunCleaning()
    }
  }
}
