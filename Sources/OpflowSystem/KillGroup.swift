/// A version 2 cgroup that kills all its processes at once, whatever their session, environment or
/// user (cgroups(7), `cgroup.kill`). It may be unavailable.
package struct KillGroup: Sendable, Equatable {
  private let path: String
  private let hasOthersBeside: Bool

  /// Makes the group in a folder below `home`; nil on failure. `hasOthersBeside`: its tasks may
  /// have sibling groups, `path` and a dot (`MemoryGroup`).
  package static func make(_ path: String, hasOthersBeside: Bool = false) -> KillGroup? {
    do throws(Errno) {
      try Path.makeDirectory(path, mode: 0o755)
    } catch {
      return nil
    }
    guard Path.exists(path + "/cgroup.kill") else {
      remove(path)
      return nil
    }
    return KillGroup(path: path, hasOthersBeside: hasOthersBeside)
  }

  /// For `ProgramStart.group`.
  package func open() -> Descriptor? {
    try? File.open(path, [.readOnly, .directory])
  }

  /// The folder of this process's version 2 cgroup at the first call.
  package static var home: String? {
    guard let path = ControlGroup.current.unifiedPath, path.hasPrefix("/") else { return nil }
    // Hybrid mode mounts version 2 there.
    for mount in ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"] {
      let folder = path == "/" ? mount : mount + path
      if Path.exists(mount + "/cgroup.controllers"), Path.exists(folder + "/cgroup.procs") {
        return folder
      }
    }
    return nil
  }

  /// Removes the group if empty, the usual case; otherwise kills its processes.
  package func end() {
    if hasOthersBeside || !Self.remove(path) { kill() }
  }

  package func kill() {
    Self.kill(path)
    if hasOthersBeside { for group in beside { Self.kill(group) } }
  }

  private var beside: [String] {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return [] }
    let folder = String(path[..<slash])
    let prefix = path[path.index(after: slash)...] + "."
    let names = (try? Path.names(in: folder)) ?? []
    return names.filter { $0.hasPrefix(prefix) }.map { "\(folder)/\($0)" }
  }

  /// Kills descendants too.
  package static func kill(_ path: String) {
    // Callers also kill by other means.
    try? File.open(path + "/cgroup.kill", .writeOnly).writeAll("1")
  }

  package func remove() { Self.remove(path) }

  /// Returns whether the group is gone; one with processes stays.
  @discardableResult
  package static func remove(_ path: String) -> Bool {
    do throws(Errno) {
      try Path.removeDirectory(path)
      return true
    } catch {
      return error == .noSuchFile
    }
  }
}
