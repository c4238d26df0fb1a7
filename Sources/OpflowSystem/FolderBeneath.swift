internal import CLinux
internal import Glibc

/// A folder whose contents are reached by paths that lead through no link and never out of it (openat2(2)): what
/// others may have written into it leads nobody elsewhere.
package struct FolderBeneath: ~Copyable {
  private let folder: Descriptor

  /// - Parameter followsLink: whether the folder may itself be reached through a link.
  package init(_ path: String, followsLink: Bool = true) throws(Errno) {
    folder = try File.open(
      path, followsLink ? [.readOnly, .directory] : [.readOnly, .directory, .noFollow])
  }

  /// - Parameter path: without `.`, `..` and empty parts, as all of these; empty for the folder itself.
  package func open(
    _ path: String, _ flags: File.Flags, mode: UInt32 = 0o600
  ) throws(Errno) -> Descriptor {
    let (at, path) = (folder.rawValue, path.isEmpty ? "." : path)
    // A mode without a file to be made is an error here.
    let mode = flags.contains(.create) ? mode : 0
    return Descriptor(
      owning: try call { clinux_open_beneath(at, path, flags.rawValue, mode) })
  }

  /// What stands there itself; nil for nothing.
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

  /// Makes a folder, and those above it that are missing. Returns the ones it made, outermost first.
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

  /// Puts a file or link in the place of what is there. Its folder must be there.
  ///
  /// - Parameter new: where it is now, in the same file system.
  package func place(_ new: String, at path: String) throws(Errno) {
    let (parent, name) = Self.split(path)
    let folder = try open(parent, [.readOnly, .directory])
    let at = folder.rawValue
    try call { renameat(AT_FDCWD, new, at, name) }
  }

  /// Gives a file another name. Both folders must be there.
  package func move(_ path: String, to new: String) throws(Errno) {
    let (oldParent, oldName) = Self.split(path)
    let (parent, name) = Self.split(new)
    let from = try open(oldParent, [.readOnly, .directory])
    let to = try open(parent, [.readOnly, .directory])
    let (old, at) = (from.rawValue, to.rawValue)
    try call { renameat(old, oldName, at, name) }
  }

  /// The names in a folder, without `.` and `..`, in no order.
  package func names(_ path: String) throws(Errno) -> [String] {
    let folder = try open(path, [.readOnly, .directory])
    return try Path.names(in: "/proc/self/fd/\(folder.rawValue)")
  }

  /// The text of a link.
  package func linkTarget(_ path: String) throws(Errno) -> String {
    let (parent, name) = Self.split(path)
    let folder = try open(parent, [.readOnly, .directory])
    return try Path.linkTarget("/proc/self/fd/\(folder.rawValue)/\(name)")
  }

  /// Makes a link in the place of what is there and is no folder.
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

  /// Puts a copy of a file in the place of what is there and is no folder: for one that lies in another file
  /// system.
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

  /// A name that nobody else uses.
  private static var draft: String {
    ".opflow-\(UInt64.random(in: 0 ... .max))"
  }

  /// Sets the permission bits of a folder.
  package func setMode(ofFolder path: String, _ mode: UInt32) throws(Errno) {
    try open(path, [.readOnly, .directory]).setMode(mode)
  }

  /// Removes a file or link, or an empty folder. Nothing there is a success.
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

  /// The path above, and the last part.
  private static func split(_ path: String) -> (parent: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return ("", path) }
    return (String(path[..<slash]), String(path[path.index(after: slash)...]))
  }
}
