internal import OpflowJournal
package import OpflowPlan
internal import OpflowSystem

extension StateFolder {
  /// The newest run with the same manifest, values and tasks, unless it succeeded. Throws `held` if
  /// another process drives it.
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
    // Its plan may be of another opflow version; the resume handles that.
    let history = try folder.readRunHistory()
    return history.close?.state != .succeeded ? folder : nil
  }

  /// nil if there is none, or it cannot be read.
  package func newestState(
    ofManifest path: String
  ) -> (run: RunID, state: RunState, on: [String])? {
    guard let newest = try? newestRun(ofManifest: path),
      // First: a run that ends in between counts as running, never as interrupted.
      let isHeld = try? RunFolderLock.isHeld(newest), let history = try? newest.readRunHistory()
    else { return nil }
    return (newest.id, history.state(isHeld: isHeld), history.on)
  }
}
