/// Processes that the kernel ends in one stroke, whatever their session, environment and user: a
/// control group of the second version (cgroups(7), `cgroup.kill`). There may be none to be had, so
/// nothing may depend on one.
package struct KillGroup: Sendable, Equatable {
  private let path: String
  /// Tasks of its process may have groups beside it (`MemoryGroup`).
  private let hasOthersBeside: Bool

  /// Makes the group at `path`, which is below `home`; nil where that cannot be, or where it would be
  /// one whose processes cannot be killed.
  ///
  /// - Parameter hasOthersBeside: tasks of its process may have groups whose names begin with its own and a dot
  ///   (`MemoryGroup`).
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

  /// Opens it for `ProgramStart.group`; nil where that cannot be.
  package func open() -> Descriptor? {
    try? File.open(path, [.readOnly, .directory])
  }

  /// The folder of the group that this process was in when it first asked for one; nil where there is no
  /// second version.
  package static var home: String? {
    guard let path = ControlGroup.current.unifiedPath, path.hasPrefix("/") else { return nil }
    // Beside the first version it has a folder of its own.
    for mount in ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"] {
      let folder = path == "/" ? mount : mount + path
      if Path.exists(mount + "/cgroup.controllers"), Path.exists(folder + "/cgroup.procs") {
        return folder
      }
    }
    return nil
  }

  /// Removes it where nothing is in it any more, which is so of nearly all, and else kills what is.
  package func end() {
    if hasOthersBeside || !Self.remove(path) { kill() }
  }

  /// Kills all that is in it, and in the groups beside it that tasks of its process have.
  package func kill() {
    Self.kill(path)
    if hasOthersBeside { for group in beside { Self.kill(group) } }
  }

  /// The groups whose names begin with this one's and a dot.
  private var beside: [String] {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return [] }
    let folder = String(path[..<slash])
    let prefix = path[path.index(after: slash)...] + "."
    let names = (try? Path.names(in: folder)) ?? []
    return names.filter { $0.hasPrefix(prefix) }.map { "\(folder)/\($0)" }
  }

  /// Kills all that is in the group at `path` and in those below it.
  package static func kill(_ path: String) {
    // Who may not, or finds none, has other ways.
    try? File.open(path + "/cgroup.kill", .writeOnly).writeAll("1")
  }

  /// Removes it, once nothing is in it any more.
  package func remove() { Self.remove(path) }

  /// Removes an empty group; one that is not stays.
  ///
  /// - Returns: whether it is gone.
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
