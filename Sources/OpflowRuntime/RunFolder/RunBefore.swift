internal import OpflowCore

extension StateFolder {
  /// The newest run of a manifest that is older than that one; nil where none of those right before it
  /// is left, or can be read.
  ///
  /// - Parameter path: the manifest's real path.
  package func run(before run: RunFolder, ofManifest path: String) -> RunFolder? {
    // Runs of other manifests may lie between, but nobody waits for thousands of them to be looked at.
    let older = ((try? runs()) ?? []).lazy.filter { $0 < run.id }.prefix(Self.maxRunsBetween)
    return older.map(folder(of:)).first { folder in
      guard let open = try? folder.readOpen() else { return false }
      return open.isRun(ofManifest: path, stateFolder: self.path)
    }
  }

  private static let maxRunsBetween = 64
}
