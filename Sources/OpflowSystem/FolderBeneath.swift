internal import CLinux
internal import Glibc

/// A folder whose contents are opened without following links and without leaving it (openat2(2)),
/// so that links planted by others have no effect.
package struct FolderBeneath: ~Copyable {
  private let folder: Descriptor

  /// - Parameter followsLink: whether `path` itself may be a link.
  package init(_ path: String, followsLink: Bool = true) throws(Errno) {
    folder = try File.open(
      path, followsLink ? [.readOnly, .directory] : [.readOnly, .directory, .noFollow])
  }

  /// Opens a file. Paths of this type must not contain `.`, `..` or empty components; an empty path
  /// is the folder itself.
  package func open(
    _ path: String, _ flags: File.Flags, mode: UInt32 = 0o600
  ) throws(Errno) -> Descriptor {
    let (at, path) = (folder.rawValue, path.isEmpty ? "." : path)
    // openat2(2) rejects a mode without O_CREAT.
    let mode = flags.contains(.create) ? mode : 0
    return Descriptor(
      owning: try call { clinux_open_beneath(at, path, flags.rawValue, mode) })
  }

  /// The status of the entry at `path`, links not followed; nil if missing.
  package func status(_ path: String) throws(Errno) -> FileStatus? {
    let (parent, name) = Self.split(path)
    do throws(Errno) {
      let folder = try open(parent, [.readOnly, .directory])
      return try Path.linkStatus("/proc/self/fd/\(folder.rawValue)/\(name)")
    } catch {
      if error == .noSuchFile || error == .notADirectory { return nil }
      throw error
    }
  }

  /// Makes a folder and its missing parents; returns those it made, outermost first.
  @discardableResult
  package func makeFolders(_ path: String) throws(Errno) -> [String] {
    if path.isEmpty { return [] }
    do throws(Errno) {
      _ = try open(path, [.readOnly, .directory])
      return []
    } catch {
      guard error == .noSuchFile else { throw error }
    }
    let (parent, name) = Self.split(path)
    let made = try makeFolders(parent)
    let at = try open(parent, [.readOnly, .directory]).release()
    defer { _ = Glibc.close(at) }
    do throws(Errno) {
      try call { mkdirat(at, name, 0o777) }
      return made + [path]
    } catch {
      guard error == .exists else { throw error }
      _ = try open(path, [.readOnly, .directory])
      return made
    }
  }

  /// Moves a file or link `new` of the same file system to `path`, replacing what is there. The
  /// folder of `path` must exist.
  package func place(_ new: String, at path: String) throws(Errno) {
    let (parent, name) = Self.split(path)
    let folder = try open(parent, [.readOnly, .directory])
    let at = folder.rawValue
    try call { renameat(AT_FDCWD, new, at, name) }
  }

  /// Renames a file. Both folders must exist.
  package func move(_ path: String, to new: String) throws(Errno) {
    let (oldParent, oldName) = Self.split(path)
    let (parent, name) = Self.split(new)
    let from = try open(oldParent, [.readOnly, .directory])
    let to = try open(parent, [.readOnly, .directory])
    let (old, at) = (from.rawValue, to.rawValue)
    try call { renameat(old, oldName, at, name) }
  }

  /// The names in a folder without `.` and `..`, unsorted.
  package func names(_ path: String) throws(Errno) -> [String] {
    let folder = try open(path, [.readOnly, .directory])
    return try Path.names(in: "/proc/self/fd/\(folder.rawValue)")
  }

  package func linkTarget(_ path: String) throws(Errno) -> String {
    let (parent, name) = Self.split(path)
    let folder = try open(parent, [.readOnly, .directory])
    return try Path.linkTarget("/proc/self/fd/\(folder.rawValue)/\(name)")
  }

  /// Makes a link at `path`, replacing anything but a folder.
  package func placeLink(to target: String, at path: String) throws(Errno) {
    let (parent, name) = Self.split(path)
    let folder = try open(parent, [.readOnly, .directory])
    let at = folder.rawValue
    let draft = Self.draft
    try call { symlinkat(target, at, draft) }
    do throws(Errno) {
      try call { renameat(at, draft, at, name) }
    } catch {
      _ = unlinkat(at, draft, 0)
      throw error
    }
  }

  /// Copies a file from another file system to `path`, replacing anything but a folder.
  package func placeCopy(of file: String, at path: String) throws(Errno) {
    let (parent, name) = Self.split(path)
    let folder = try open(parent, [.readOnly, .directory])
    let at = folder.rawValue
    let draft = Self.draft
    do throws(Errno) {
      let old = try File.open(file, [.readOnly, .noFollow])
      let new = try File.open(draft, in: folder, [.writeOnly, .create, .exclusive, .noFollow])
      var chunk = [UInt8](repeating: 0, count: 256 << 10)
      var size: Int64 = 0
      while true {
        let count = try chunk.withUnsafeMutableBufferPointer { room throws(Errno) in
          try old.read(into: UnsafeMutableRawBufferPointer(room))
        }
        if count == 0 { break }
        try chunk.withUnsafeBufferPointer { bytes throws(Errno) in
          try new.writeAll(
            UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[..<count])), at: size,
            leavesHoles: true)
        }
        size += Int64(count)
      }
      try new.truncate(to: size)
      try new.setMode(try old.status().mode)
      try new.close()
      try call { renameat(at, draft, at, name) }
    } catch {
      _ = unlinkat(at, draft, 0)
      throw error
    }
  }

  private static var draft: String {
    ".opflow-\(UInt64.random(in: 0 ... .max))"
  }

  package func setMode(ofFolder path: String, _ mode: UInt32) throws(Errno) {
    try open(path, [.readOnly, .directory]).setMode(mode)
  }

  /// Removes a file, a link or an empty folder. A missing one is not an error.
  package func remove(_ path: String, isFolder: Bool) throws(Errno) {
    let (parent, name) = Self.split(path)
    do throws(Errno) {
      let folder = try open(parent, [.readOnly, .directory])
      let at = folder.rawValue
      try call { unlinkat(at, name, isFolder ? AT_REMOVEDIR : 0) }
    } catch {
      if error != .noSuchFile && error != .notADirectory { throw error }
    }
  }

  private static func split(_ path: String) -> (parent: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return ("", path) }
    return (String(path[..<slash]), String(path[path.index(after: slash)...]))
  }
}
