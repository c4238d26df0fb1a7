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
