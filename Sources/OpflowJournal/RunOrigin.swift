internal import OpflowPlan

/// The selection of a run, regardless of order. A resume of the newest run looks for an equal one.
package struct RunOrigin: Hashable, Sendable {
  private let set: [String]
  private let tasks: Set<String>
  private let arguments: [String]
  private let only: Set<String>
  private let skip: Set<String>

  package init(
    set: [String], tasks: [String], arguments: [String], only: [String], skip: [String]
  ) {
    self.set = SetValues.normal(set)
    self.tasks = Set(tasks)
    self.arguments = arguments
    self.only = Set(only)
    self.skip = Set(skip)
  }
}

extension OpenEntry {
  package var origin: RunOrigin {
    RunOrigin(set: set, tasks: tasks, arguments: arguments, only: only, skip: skip)
  }

  /// The manifest may have moved together with the state folder.
  package func manifest(seenFrom folder: String) -> String {
    if manifestPath == "-" || stateFolder.isEmpty || stateFolder == folder { return manifestPath }
    return moved(manifestPath, to: folder)
  }

  /// By path, or relative to the state folder, which may have moved with the manifest.
  package func isRun(ofManifest path: String, stateFolder folder: String) -> Bool {
    if manifestPath == path { return true }
    guard manifestPath != "-", path != "-", !stateFolder.isEmpty else { return false }
    return Self.relative(manifestPath, to: stateFolder) == Self.relative(path, to: folder)
  }

  package func moved(_ path: String, to folder: String) -> String {
    var parts = folder.split(separator: "/")
    for part in Self.relative(path, to: stateFolder) {
      if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    return "/" + parts.joined(separator: "/")
  }

  private static func relative(_ path: String, to base: String) -> [Substring] {
    let path = path.split(separator: "/")
    let base = base.split(separator: "/")
    let shared = zip(path, base).prefix { $0 == $1 }.count
    return [Substring](repeating: "..", count: base.count - shared) + path[shared...]
  }
}
