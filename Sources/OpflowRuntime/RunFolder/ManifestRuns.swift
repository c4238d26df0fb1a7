internal import OpflowSystem

package struct ManifestRuns: Sendable {
  let state: StateFolder
  let path: String
  package let keep: Int

  /// Within a short time limit. Does nothing if `runs` is a symbolic link.
  package func clean() throws(RunFolderError) -> RunCleaning {
    do throws(RunFolderError) {
      return try state.clean(
        ofManifest: path, keep: keep, nowMilliseconds: Clock.wallMilliseconds)
    } catch .link {
      return RunCleaning()
    }
  }
}
