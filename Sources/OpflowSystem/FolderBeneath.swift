internal import CLinux
internal import Glibc

/// A folder whose contents are reached without following a link or leaving it (openat2(2)),
/// whatever others have written into it. A path is text, or bytes without a zero.
package struct FolderBeneath: ~Copyable {
  private let folder: Descriptor

  /// `followsLink`: `path` itself may be a link.
  package init(_ path: String, followsLink: Bool = true) throws(Errno) {
    folder = try File.open(
      path, followsLink ? [.readOnly, .directory] : [.readOnly, .directory, .noFollow])
  }

  /// Paths of this type must not contain `.`, `..` or empty components. An empty path is the folder
  /// itself.
  package func open(
    _ path: String, _ flags: File.Flags, mode: UInt32 = 0o600
  ) throws(Errno) -> Descriptor {
    try open(Array(path.utf8), flags, mode: mode)
  }

  package func open(
    _ path: [UInt8], _ flags: File.Flags, mode: UInt32 = 0o600
  ) throws(Errno) -> Descriptor {
    let at = folder.rawValue
    // openat2 refuses a mode without O_CREAT.
    let mode = flags.contains(.create) ? mode : 0
    return Descriptor(
      owning: try Self.calling(path.isEmpty ? [UInt8(ascii: ".")] : path) {
        clinux_open_beneath(at, $0, flags.rawValue, mode)
      })
  }

  @discardableResult
  private static func calling<Result: SignedInteger>(
    _ path: some Collection<UInt8>, _ body: (UnsafePointer<CChar>) -> Result
  ) throws(Errno) -> Result {
    let text = path.map { CChar(bitPattern: $0) } + [0]
    // SAFETY: `text` is zero-terminated, and the call does not keep the pointer.
    return try call { text.withUnsafeBufferPointer { $0.baseAddress.map(body) ?? -1 } }
  }

  package func status(_ path: String) throws(Errno) -> FileStatus? {
    try status(Array(path.utf8))
  }

  /// Does not follow a link; nil if nothing is there.
  package func status(_ path: [UInt8]) throws(Errno) -> FileStatus? {
    let (parent, name) = Self.split(path)
    do throws(Errno) {
      let folder = try open(parent, [.readOnly, .directory])
      return try Path.linkStatus(ofBytes: name + [0], from: folder.rawValue)
    } catch {
      if error == .noSuchFile || error == .notADirectory { return nil }
      throw error
    }
  }

  /// Returns the folders that it made, outermost first.
  @discardableResult
  package func makeFolders(_ path: [UInt8]) throws(Errno) -> [[UInt8]] {
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
      try Self.calling(name) { mkdirat(at, $0, 0o777) }
      return made + [path]
    } catch {
      guard error == .exists else { throw error }
      _ = try open(path, [.readOnly, .directory])
      return made
    }
  }

  /// Replaces an entry with a file or link of the same file system. Its folder must exist.
  package func place(_ new: String, at path: [UInt8]) throws(Errno) {
    let (parent, name) = Self.split(path)
    let folder = try open(parent, [.readOnly, .directory])
    let at = folder.rawValue
    try Self.calling(name) { renameat(AT_FDCWD, new, at, $0) }
  }

  /// Both folders must exist.
  package func move(_ path: String, to new: String) throws(Errno) {
    let (oldParent, oldName) = Self.split(Array(path.utf8))
    let (parent, name) = Self.split(Array(new.utf8))
    let from = try open(oldParent, [.readOnly, .directory])
    let to = try open(parent, [.readOnly, .directory])
    let (old, at) = (from.rawValue, to.rawValue)
    try Self.calling(oldName) { (oldName: UnsafePointer<CChar>) -> Int32 in
      let name = name.map { CChar(bitPattern: $0) } + [0]
      return renameat(old, oldName, at, name)
    }
  }

  package func names(_ path: String) throws(Errno) -> [String] {
    let folder = try open(path, [.readOnly, .directory])
    return try Path.names(in: "/proc/self/fd/\(folder.rawValue)")
  }

  package func linkTarget(_ path: [UInt8]) throws(Errno) -> [UInt8] {
    let (parent, name) = Self.split(path)
    let folder = try open(parent, [.readOnly, .directory])
    return try Path.linkBytes(
      ofBytes: Array("/proc/self/fd/\(folder.rawValue)/".utf8) + name + [0])
  }

  /// Replaces an entry that is not a folder.
  package func placeLink(to target: String, at path: [UInt8]) throws(Errno) {
    let (parent, name) = Self.split(path)
    let folder = try open(parent, [.readOnly, .directory])
    let at = folder.rawValue
    let draft = Self.draft
    try call { symlinkat(target, at, draft) }
    do throws(Errno) {
      try Self.calling(name) { renameat(at, draft, at, $0) }
    } catch {
      _ = unlinkat(at, draft, 0)
      throw error
    }
  }

  /// Replaces an entry that is not a folder with a copy of a file from another file system.
  package func placeCopy(of file: String, at path: [UInt8]) throws(Errno) {
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
      try Self.calling(name) { renameat(at, draft, at, $0) }
    } catch {
      _ = unlinkat(at, draft, 0)
      throw error
    }
  }

  private static var draft: String {
    ".opflow-\(UInt64.random(in: 0 ... .max))"
  }

  package func setMode(ofFolder path: [UInt8], _ mode: UInt32) throws(Errno) {
    try open(path, [.readOnly, .directory]).setMode(mode)
  }

  package func remove(_ path: String, isFolder: Bool) throws(Errno) {
    try remove(Array(path.utf8), isFolder: isFolder)
  }

  /// Removes a file, link or empty folder, if it exists.
  package func remove(_ path: [UInt8], isFolder: Bool) throws(Errno) {
    let (parent, name) = Self.split(path)
    do throws(Errno) {
      let folder = try open(parent, [.readOnly, .directory])
      let at = folder.rawValue
      try Self.calling(name) { unlinkat(at, $0, isFolder ? AT_REMOVEDIR : 0) }
    } catch {
      if error != .noSuchFile && error != .notADirectory { throw error }
    }
  }

  private static func split(_ path: [UInt8]) -> (parent: [UInt8], name: [UInt8]) {
    guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return ([], path) }
    return (Array(path[..<slash]), Array(path[(slash + 1)...]))
  }
}
