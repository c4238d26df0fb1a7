/// Having the control group of this process share out memory to groups of its own (cgroups(7), "Delegation").
///
/// A group whose memory is shared out to those below it may have no processes itself. So this process goes
/// into a group of its own first; where others are in the group too, which are not ours to move, there is
/// nothing to be shared out.
package struct MemoryDelegation: ~Copyable {
  private let group: String
  private let own: String
  /// Its memory was not shared out before.
  private let isNew: Bool

  /// Why there is none, in words for a person.
  package struct Obstacle: Error {
    package let what: String
  }

  private static let family = "opflow-own-"

  /// The folder of the group that this process is in, or was in before it went into one of its own.
  package static var home: String? {
    guard let home = KillGroup.home else { return nil }
    let own = "/\(family)\(ProcessID.own)"
    return home.hasSuffix(own) ? String(home.dropLast(own.count)) : home
  }

  /// Goes into a group of its own, and has memory shared out to those beside it.
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

  /// Shares out the memory of a group below `home` to those in it.
  ///
  /// - Returns: why not; nil where it is done.
  package static func enable(_ folder: String) -> Errno? {
    if words(folder + "/cgroup.subtree_control").contains("memory") { return nil }
    do throws(Errno) {
      try write("+memory", to: folder + "/cgroup.subtree_control")
      return nil
    } catch {
      return error
    }
  }

  /// Leaves things as they were; call it when no group is left that memory is shared out to.
  deinit { Self.leave(group, own, isNew: isNew) }

  private static func leave(_ home: String, _ own: String, isNew: Bool) {
    // Where another run has groups here, memory stays shared out and this process where it is; the next
    // one removes what is left.
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
