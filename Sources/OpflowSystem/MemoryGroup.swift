/// A cgroup whose processes are all killed when it exceeds its memory limit.
package struct MemoryGroup: ~Copyable {
  private let path: String

  /// Fails if memory is not distributed at `path`.
  package init?(_ path: String, limitBytes: UInt64) {
    self.path = path
    guard (try? Path.makeDirectory(path, mode: 0o755)) != nil else { return nil }
    do throws(Errno) {
      try File.open(path + "/memory.max", .writeOnly).writeAll("\(limitBytes)")
      // Swap would evade the limit; the machine may have none.
      try? File.open(path + "/memory.swap.max", .writeOnly).writeAll("0")
      // A task that lost one process is useless.
      try File.open(path + "/memory.oom.group", .writeOnly).writeAll("1")
    } catch {
      try? Path.removeDirectory(path)
      return nil
    }
  }

  deinit { try? Path.removeDirectory(path) }

  /// For `ProgramStart.group`.
  package func open() -> Descriptor? { try? File.open(path, [.readOnly, .directory]) }

  /// Whether the kernel killed a process of the group.
  package var hasOverrun: Bool {
    guard let bytes = try? File.read(path + "/memory.events") else { return false }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").contains { line in
      let words = line.split(separator: " ")
      return words.count == 2 && (words[0] == "oom_kill" || words[0] == "oom_group_kill")
        && words[1] != "0"
    }
  }

  /// nil before kernel 5.19.
  package var peakBytes: UInt64? {
    guard let bytes = try? File.read(path + "/memory.peak") else { return nil }
    return UInt64(String(decoding: bytes.prefix { $0 != 10 }, as: UTF8.self))
  }
}
