package import OpflowCore
internal import OpflowSystem

extension StateFolder {
  /// The run that `reference` names: an id, the beginning of one, the name or the path of a manifest of runs, for the
  /// newest of these; nil for the newest run of all.
  ///
  /// - Parameter reference: a path is absolute, or relative to the folder opflow works in.
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
      if let named = try run(named: reference) { return named }
    }
    if let run = try newestRun(ofManifest: reference) { return run }
    // A folder or a file may have the name of a run, and is none of its manifests.
    if !reference.isEmpty, let named = try run(named: reference) { return named }
    throw .noSuchRun(reference)
  }

  /// The newest run of that name; nil where there is none.
  package func run(named name: String) throws(RunFolderError) -> RunFolder? {
    try runs().lazy.map(folder(of:)).first { (try? $0.readOpen())?.name == name }
  }

  /// Whether a run was begun by a task of another one of these, so that who names none means that one; but not for
  /// what that task itself runs.
  package static func isPartOfAnother(_ run: RunFolder, among runs: [RunID]) -> Bool {
    guard let around = (try? run.readOpen())?.around, runs.contains(around.run) else {
      return false
    }
    return around != TaskAround.here
  }

  /// The newest run of a manifest, `-` for standard input, that `isWanted`. Runs whose journal cannot
  /// be read are passed over: nobody knows whose they are.
  package func newestRun(
    ofManifest path: String, where isWanted: @escaping (OpenEntry) -> Bool = { _ in true }
  ) throws(RunFolderError) -> RunFolder? {
    let manifest = path == "-" ? path : Self.real(path)
    return try runs(ofManifest: manifest, where: isWanted).first { _ in true }
  }

  /// The runs of the manifest with that real path, newest first, each looked for as it is asked for.
  ///
  /// - Parameters:
  ///   - own: one that is left out; nil for none.
  ///   - limit: so many runs of any manifest are looked at.
  func runs(
    ofManifest path: String, but own: RunID? = nil, amongNewest limit: Int = .max,
    where isWanted: @escaping (OpenEntry) -> Bool = { _ in true }
  ) throws(RunFolderError) -> some Sequence<RunFolder> {
    try runs().prefix(limit).lazy.map(folder(of:)).filter { run in
      guard run.id != own, let open = try? run.readOpen() else { return false }
      return open.isRun(ofManifest: path, stateFolder: self.path) && isWanted(open)
    }
  }

  /// The real path; for a file that is gone, that of its folder with the file's name.
  private static func real(_ path: String) -> String {
    if let real = try? Path.real(path) { return real }
    let name = Path.name(path)
    guard let folder = try? Path.real(Path.parent(of: path)) else { return path }
    return folder == "/" ? "/\(name)" : "\(folder)/\(name)"
  }
}
