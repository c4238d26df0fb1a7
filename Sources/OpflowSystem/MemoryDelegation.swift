/// Having the control group of this process share out memory to groups of its own (cgroups(7), "Delegation").
///
/// A group whose memory is shared out to those below it may have no processes itself. So this process goes
/// into a group of its own first; where others are in the group too, which are not ours to move, there is
/// nothing to be shared out.
package struct MemoryDelegation: ~Copyable {
  private let group: String
  private let own: String

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
    let own = "\(home)/\(Self.family)\(ProcessID.own)"
    do throws(Errno) {
      if !Path.exists(own) { try Path.makeDirectory(own, mode: 0o755) }
      try Self.write("\(ProcessID.own)", to: own + "/cgroup.procs")
    } catch {
      Self.leave(home, own)
      throw Obstacle(what: "the control group \(home) is not delegated to this user: \(error)")
    }
    if let error = Self.enable(home) {
      Self.leave(home, own)
      throw Obstacle(
        what: error == .busy
          ? "other processes are in the control group \(home)"
          : "the control group \(home) is not delegated to this user: \(error)")
    }
    return MemoryDelegation(group: home, own: own)
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
  deinit { Self.leave(group, own) }

  private static func leave(_ home: String, _ own: String) {
    // Where another run has groups here, memory stays shared out and this process where it is; the next
    // one removes what is left.
    try? write("-memory", to: home + "/cgroup.subtree_control")
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

/// A control group that ends all that is in it when that uses more memory than it may.
package struct MemoryGroup: ~Copyable {
  private let path: String

  /// Makes the group at `path`; nil where memory is not shared out there.
  package init?(_ path: String, limitBytes: UInt64) {
    self.path = path
    guard (try? Path.makeDirectory(path, mode: 0o755)) != nil else { return nil }
    do throws(Errno) {
      try File.open(path + "/memory.max", .writeOnly).writeAll("\(limitBytes)")
      // What is swapped out is used all the same. There may be no swap.
      try? File.open(path + "/memory.swap.max", .writeOnly).writeAll("0")
      // All at once: what is left of a task of which one process is gone is of no use.
      try File.open(path + "/memory.oom.group", .writeOnly).writeAll("1")
    } catch {
      try? Path.removeDirectory(path)
      return nil
    }
  }

  deinit { try? Path.removeDirectory(path) }

  /// Opens it for `ProgramStart.group`; nil where that cannot be.
  package func open() -> Descriptor? { try? File.open(path, [.readOnly, .directory]) }

  /// Whether anything was ended in it for want of memory.
  package var hasOverrun: Bool {
    guard let bytes = try? File.read(path + "/memory.events") else { return false }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").contains { line in
      let words = line.split(separator: " ")
      return words.count == 2 && (words[0] == "oom_kill" || words[0] == "oom_group_kill")
        && words[1] != "0"
    }
  }

  /// What was used at most, as far as the kernel tells (since 5.19).
  package var peakBytes: UInt64? {
    guard let bytes = try? File.read(path + "/memory.peak") else { return nil }
    return UInt64(String(decoding: bytes.prefix { $0 != 10 }, as: UTF8.self))
  }
}
