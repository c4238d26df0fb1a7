/// A version 2 cgroup that kills all its processes in one step, whatever their session, environment
/// or user (cgroups(7), `cgroup.kill`). It may be unavailable.
package struct KillGroup: Sendable, Equatable {
  private let path: String
  private let hasOthersBeside: Bool

  /// Makes the group at `path`, a folder below `home`; nil if that fails or it has no
  /// `cgroup.kill`. `hasOthersBeside`: its tasks may have sibling groups named `path` and a dot
  /// (`MemoryGroup`).
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

  /// Opens the group for `ProgramStart.group`; nil on failure.
  package func open() -> Descriptor? {
    try? File.open(path, [.readOnly, .directory])
  }

  /// The folder of this process's version 2 cgroup at the first call; nil without version 2.
  package static var home: String? {
    guard let path = ControlGroup.current.unifiedPath, path.hasPrefix("/") else { return nil }
    // In hybrid mode, version 2 is mounted at /sys/fs/cgroup/unified.
    for mount in ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"] {
      let folder = path == "/" ? mount : mount + path
      if Path.exists(mount + "/cgroup.controllers"), Path.exists(folder + "/cgroup.procs") {
        return folder
      }
    }
    return nil
  }

  /// Removes the group if it is empty, the usual case; otherwise kills its processes.
  package func end() {
    if hasOthersBeside || !Self.remove(path) { kill() }
  }

  /// Kills all processes of the group and of its sibling groups for tasks.
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

  /// Kills all processes of the group at `path` and of its descendants.
  package static func kill(_ path: String) {
    // Failure is fine: callers also kill by other means.
    try? File.open(path + "/cgroup.kill", .writeOnly).writeAll("1")
  }

  /// Removes the group if it is empty.
  package func remove() { Self.remove(path) }

  /// Removes the group if it is empty; returns whether it is gone.
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
