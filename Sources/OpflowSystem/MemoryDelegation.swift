/// Lets this process's cgroup distribute memory to child groups (cgroups(7), "Delegation"). Such a
/// group must not contain processes, so this process moves into a child group. Fails if the group
/// has other processes.
package struct MemoryDelegation: ~Copyable {
  private let group: String
  private let own: String
  /// Whether this process enabled it.
  private let isNew: Bool

  /// A message for the user.
  package struct Obstacle: Error {
    package let what: String
  }

  private static let family = "opflow-own-"

  /// The cgroup folder of this process, before it moved into its own child group.
  package static var home: String? {
    guard let home = KillGroup.home else { return nil }
    let own = "/\(family)\(ProcessID.own)"
    return home.hasSuffix(own) ? String(home.dropLast(own.count)) : home
  }

  package static func begin() throws(Obstacle) -> MemoryDelegation {
    guard let home = Self.home else {
      throw Obstacle(what: "this machine has no control groups of version 2")
    }
    guard Self.words(home + "/cgroup.controllers").contains("memory") else {
      throw Obstacle(what: "the control group \(home) does not share out memory")
    }
    let isNew = !words(home + "/cgroup.subtree_control").contains("memory")
    let own = "\(home)/\(Self.family)\(ProcessID.own)"
    do throws(Errno) {
      if !Path.exists(own) { try Path.makeDirectory(own, mode: 0o755) }
      try Self.write("\(ProcessID.own)", to: own + "/cgroup.procs")
    } catch {
      Self.leave(home, own, isNew: false)
      throw Obstacle(what: "the control group \(home) is not delegated to this user: \(error)")
    }
    if let error = Self.enable(home) {
      Self.leave(home, own, isNew: false)
      throw Obstacle(
        what: error == .busy
          ? "other processes are in the control group \(home)"
          : "the control group \(home) is not delegated to this user: \(error)")
    }
    return MemoryDelegation(group: home, own: own, isNew: isNew)
  }

  /// Enables the memory controller for the children of a group.
  package static func enable(_ folder: String) -> Errno? {
    if words(folder + "/cgroup.subtree_control").contains("memory") { return nil }
    do throws(Errno) {
      try write("+memory", to: folder + "/cgroup.subtree_control")
      return nil
    } catch {
      return error
    }
  }

  /// All groups with a memory limit must be removed by then.
  deinit { Self.leave(group, own, isNew: isNew) }

  private static func leave(_ home: String, _ own: String, isNew: Bool) {
    // If another run has groups here, these calls fail; the next run cleans up.
    if isNew { try? write("-memory", to: home + "/cgroup.subtree_control") }
    try? write("\(ProcessID.own)", to: home + "/cgroup.procs")
    try? Path.removeDirectory(own)
  }

  private static func words(_ path: String) -> [Substring] {
    guard let bytes = try? File.read(path) else { return [] }
    return String(decoding: bytes, as: UTF8.self).split { $0 == " " || $0 == "\n" }
  }

  private static func write(_ text: String, to path: String) throws(Errno) {
    try File.open(path, .writeOnly).writeAll(text)
  }
}
