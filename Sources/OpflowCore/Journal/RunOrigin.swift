extension OpenEntry {
  /// Whether the run is one of that manifest: it has the same path, or had the same path as seen from
  /// the folder that holds the runs, which somebody may have moved with the manifest.
  package func isRun(ofManifest path: String, stateFolder folder: String) -> Bool {
    if manifestPath == path { return true }
    guard manifestPath != "-", path != "-", !stateFolder.isEmpty else { return false }
    return Self.relative(manifestPath, to: stateFolder) == Self.relative(path, to: folder)
  }

  /// The way from `base` to `path`, both absolute.
  private static func relative(_ path: String, to base: String) -> [Substring] {
    let path = path.split(separator: "/")
    let base = base.split(separator: "/")
    let shared = zip(path, base).prefix { $0 == $1 }.count
    return [Substring](repeating: "..", count: base.count - shared) + path[shared...]
  }
}
