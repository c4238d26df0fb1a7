package import OpflowJournal
package import OpflowPlan
internal import OpflowSystem

extension StateFolder {
  /// Returns the run that `reference` names: an ID, the prefix of one, a run's name, or the path of
  /// a manifest for its newest run; nil for the newest run.
  package func run(_ reference: String?) throws(RunFolderError) -> RunFolder {
    let runs = try runs()
    guard let reference else {
      let newest = runs.lazy.map(folder(of:)).first {
        $0.hasBegun && !Self.isPartOfAnother($0, among: runs)
      }
      guard let newest else {
        throw .noRuns(folder: path)
      }
      return newest
    }
    if let id = RunID(reference), runs.contains(id) { return folder(of: id) }
    if !reference.isEmpty, !Path.exists(reference) {
      let matches = runs.filter { $0.description.hasPrefix(reference) }
      if matches.count == 1 { return folder(of: matches[0]) }
      if matches.count > 1 {
        throw .ambiguous(reference, runs: matches.map(\.description))
      }
      if let named = try newestRun(where: { $0.name == reference }) { return named }
    }
    if let run = try newestRun(ofManifest: reference) { return run }
    // A file or folder may have the name of a run without being a manifest of one.
    if !reference.isEmpty, let named = try newestRun(where: { $0.name == reference }) {
      return named
    }
    throw .noSuchRun(reference)
  }

  /// The live runs, newest first, without those that a task of another one began. A run whose lock
  /// cannot be read does not count.
  package func liveRuns() throws(RunFolderError) -> [RunFolder] {
    let live = try runs().map(folder(of:)).filter { (try? RunFolderLock.isHeld($0)) ?? false }
    let ids = live.map(\.id)
    return live.filter { !Self.isPartOfAnother($0, among: ids) }
  }

  /// The newest run of that name; nil where there is none.
  package func run(named name: String) throws(RunFolderError) -> RunFolder? {
    try runs().lazy.map(folder(of:)).first { (try? $0.readOpen())?.name == name }
  }

  /// Whether a run is nested in another one of `runs`, so that the outer one is the default target.
  /// False inside the task that started it.
  package static func isPartOfAnother(_ run: RunFolder, among runs: [RunID]) -> Bool {
    guard let around = (try? run.readOpen())?.around, runs.contains(around.run) else {
      return false
    }
    return around != TaskAround.here
  }

  /// Returns the newest run that `isWanted`. Skips runs with damaged journals.
  ///
  /// - Throws: If a journal cannot be opened, since that may be the wanted run's.
  private func newestRun(
    where isWanted: (OpenEntry) -> Bool
  ) throws(RunFolderError) -> RunFolder? {
    for id in try runs() {
      let run = folder(of: id)
      do throws(RunFolderError) {
        if isWanted(try run.readOpen()) { return run }
      } catch {
        if case .file = error { throw error }
      }
    }
    return nil
  }

  /// Returns the newest run of a manifest (`-` for standard input) that `isWanted`.
  package func newestRun(
    ofManifest path: String, where isWanted: (OpenEntry) -> Bool = { _ in true }
  ) throws(RunFolderError) -> RunFolder? {
    let manifest = path == "-" ? path : Self.real(path)
    return try newestRun { $0.isRun(ofManifest: manifest, stateFolder: self.path) && isWanted($0) }
  }

  /// Returns the runs of the manifest with that real path, newest first, lazily.
  ///
  /// - Parameters:
  ///   - own: Left out.
  ///   - limit: Check only this many runs of all manifests.
  func runs(
    ofManifest path: String, but own: RunID? = nil, amongNewest limit: Int = .max,
    where isWanted: @escaping (OpenEntry) -> Bool = { _ in true }
  ) throws(RunFolderError) -> some Sequence<RunFolder> {
    try runs().prefix(limit).lazy.map(folder(of:)).filter { run in
      guard run.id != own, let open = try? run.readOpen() else { return false }
      return open.isRun(ofManifest: path, stateFolder: self.path) && isWanted(open)
    }
  }

  /// Returns the real path; for a missing file, its name in the real path of its folder.
  private static func real(_ path: String) -> String {
    if let real = try? Path.real(path) { return real }
    let name = Path.name(path)
    guard let folder = try? Path.real(Path.parent(of: path)) else { return path }
    return folder == "/" ? "/\(name)" : "\(folder)/\(name)"
  }
}
