package import OpflowCore
internal import OpflowSystem

/// What an earlier run of a manifest means for the next one.
extension StateFolder {
  /// The run that a request goes on with, the newest of the same manifest, values and tasks; nil where
  /// all is done, or where there is none.
  ///
  /// - Throws: `held` where another process drives it.
  package func resumable(
    ofManifest path: String, _ request: RunRequest
  ) throws(RunFolderError) -> RunFolder? {
    let origin = RunOrigin(
      set: request.set, tasks: request.tasks, arguments: request.arguments, only: request.only,
      skip: request.skip)
    let newest = try newestRun(ofManifest: path) {
      $0.origin == origin && (request.around == nil || $0.around == request.around)
    }
    guard let folder = newest else { return nil }
    try RunFolderLock.expectFree(folder)
    // Not with its plan, which another opflow may have made: the resume sees to that.
    let history = try folder.readRunHistory()
    return history.close?.state != .succeeded ? folder : nil
  }

  /// How the newest run of a manifest stands; nil where there is none, or it cannot be read.
  package func newestState(
    ofManifest path: String
  ) -> (run: RunID, state: RunState, on: [String])? {
    guard let newest = try? newestRun(ofManifest: path),
      // Before the journal: a run that ends meanwhile is taken for running, never for interrupted.
      let isHeld = try? RunFolderLock.isHeld(newest), let history = try? newest.readRunHistory()
    else { return nil }
    return (newest.id, history.state(isHeld: isHeld), history.on)
  }
}
