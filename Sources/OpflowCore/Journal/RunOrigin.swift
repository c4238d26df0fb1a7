extension OpenEntry {
  /// Whether the run was begun with the same values and about the same tasks. Order says nothing.
  package func wasBegun(
    set values: [String], tasks: [String], arguments: [String], only: [String], skip: [String]
  ) -> Bool {
    SetValues.normal(set) == SetValues.normal(values) && Set(self.tasks) == Set(tasks)
      && self.arguments == arguments
      && Set(self.only) == Set(only) && Set(self.skip) == Set(skip)
  }

  /// Whether the run is one of that manifest: it has the same path, or had the same path as seen from
  /// the folder that holds the runs, which somebody may have moved with the manifest.
  package func isRun(ofManifest path: String, stateFolder folder: String) -> Bool {
    if manifestPath == path { return true }
    guard manifestPath != "-", path != "-", !stateFolder.isEmpty else { return false }
    return Self.relative(manifestPath, to: stateFolder) == Self.relative(path, to: folder)
  }

  /// A path of the run as it began, at the same place as seen from a state folder that was moved.
  package func moved(_ path: String, to folder: String) -> String {
    var parts = folder.split(separator: "/")
    for part in Self.relative(path, to: stateFolder) {
      if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    return "/" + parts.joined(separator: "/")
  }

  /// The way from `base` to `path`, both absolute.
  private static func relative(_ path: String, to base: String) -> [Substring] {
    let path = path.split(separator: "/")
    let base = base.split(separator: "/")
    let shared = zip(path, base).prefix { $0 == $1 }.count
    return [Substring](repeating: "..", count: base.count - shared) + path[shared...]
  }
}
