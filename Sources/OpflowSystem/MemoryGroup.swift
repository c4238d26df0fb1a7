/// A cgroup whose processes are all killed when it exceeds its memory limit.
package struct MemoryGroup: ~Copyable {
  private let path: String

  /// Makes the group at `path`; nil if memory is not distributed there.
  package init?(_ path: String, limitBytes: UInt64) {
    self.path = path
    guard (try? Path.makeDirectory(path, mode: 0o755)) != nil else { return nil }
    do throws(Errno) {
      try File.open(path + "/memory.max", .writeOnly).writeAll("\(limitBytes)")
      // Swap would evade the limit. The machine may have no swap.
      try? File.open(path + "/memory.swap.max", .writeOnly).writeAll("0")
      // Kill all at once: a task that lost one process is useless.
      try File.open(path + "/memory.oom.group", .writeOnly).writeAll("1")
    } catch {
      try? Path.removeDirectory(path)
      return nil
    }
  }

  deinit { try? Path.removeDirectory(path) }

  /// Opens the group for `ProgramStart.group`; nil on failure.
  package func open() -> Descriptor? { try? File.open(path, [.readOnly, .directory]) }

  /// Whether the kernel killed a process in the group for lack of memory.
  package var hasOverrun: Bool {
    guard let bytes = try? File.read(path + "/memory.events") else { return false }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").contains { line in
      let words = line.split(separator: " ")
      return words.count == 2 && (words[0] == "oom_kill" || words[0] == "oom_group_kill")
        && words[1] != "0"
    }
  }

  /// The peak memory use; nil before kernel 5.19.
  package var peakBytes: UInt64? {
    guard let bytes = try? File.read(path + "/memory.peak") else { return nil }
    return UInt64(String(decoding: bytes.prefix { $0 != 10 }, as: UTF8.self))
  }
}
