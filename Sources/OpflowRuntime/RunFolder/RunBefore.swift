internal import OpflowJournal

extension StateFolder {
  /// The newest run of a manifest before `run`; nil if there is none nearby, or it cannot be read.
  package func run(before run: RunFolder, ofManifest path: String) -> RunFolder? {
    // Runs of other manifests may lie between; checking thousands would take too long.
    let older = ((try? runs()) ?? []).lazy.filter { $0 < run.id }.prefix(Self.maxRunsBetween)
    return older.map(folder(of:)).first { folder in
      guard let open = try? folder.readOpen() else { return false }
      return open.isRun(ofManifest: path, stateFolder: self.path)
    }
  }

  private static let maxRunsBetween = 64
}
