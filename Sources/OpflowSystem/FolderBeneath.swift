internal import CLinux
internal import Glibc

/// A folder whose contents are reached without following a link or leaving it (openat2(2)),
/// whatever others have written into it. Paths must not contain zeros, `.`, `..` or empty
/// components.
package struct FolderBeneath: ~Copyable {
  private let folder: Descriptor

  /// `followsLink`: `path` itself may be a link.
  package init(_ path: String, followsLink: Bool = true) throws(Errno) {
    folder = try File.open(
      path, followsLink ? [.readOnly, .directory] : [.readOnly, .directory, .noFollow])
  }

  /// An empty path is the folder itself.
  package func open(
    _ path: String, _ flags: File.Flags, mode: UInt32 = 0o600
  ) throws(Errno) -> Descriptor {
    try open(Array(path.utf8), flags, mode: mode)
  }

  package func open(
    _ path: [UInt8], _ flags: File.Flags, mode: UInt32 = 0o600
  ) throws(Errno) -> Descriptor {
    // openat2 refuses a mode without O_CREAT.
    let mode = flags.contains(.create) ? mode : 0
    return Descriptor(
      owning: try Self.calling(path.isEmpty ? [UInt8(ascii: ".")] : path) {
        clinux_open_beneath(folder.rawValue, $0, flags.rawValue, mode)
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

  /// nil if missing; does not follow a link.
  package func status(_ path: [UInt8]) throws(Errno) -> FileStatus? {
    do throws(Errno) {
      let entry = try entry(at: path)
      return try Path.linkStatus(ofBytes: entry.name + [0], from: entry.folder.rawValue)
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
    let made = try makeFolders(Self.split(path).parent)
    let entry = try entry(at: path)
    do throws(Errno) {
      try Self.calling(entry.name) { mkdirat(entry.folder.rawValue, $0, 0o777) }
      return made + [path]
    } catch {
      guard error == .exists else { throw error }
      _ = try open(path, [.readOnly, .directory])
      return made
    }
  }

  /// Replaces an entry with a file or link of the same file system. Its folder must exist.
  package func place(_ new: String, at path: [UInt8]) throws(Errno) {
    try entry(at: path).replace(with: new, in: AT_FDCWD)
  }

  /// Both folders must exist.
  package func move(_ path: String, to new: String) throws(Errno) {
    let old = try entry(at: Array(path.utf8))
    try entry(at: Array(new.utf8)).replace(with: Path.name(path), in: old.folder.rawValue)
  }

  package func names(_ path: String) throws(Errno) -> [String] {
    try open(path, [.readOnly, .directory]).names()
  }

  package func linkTarget(_ path: [UInt8]) throws(Errno) -> [UInt8] {
    let entry = try entry(at: path)
    return try Path.linkBytes(
      ofBytes: Array("/proc/self/fd/\(entry.folder.rawValue)/".utf8) + entry.name + [0])
  }

  package func placeLink(to target: String, at path: [UInt8]) throws(Errno) {
    let entry = try entry(at: path)
    let draft = Self.draft
    try call { symlinkat(target, entry.folder.rawValue, draft) }
    try entry.replace(withDraft: draft)
  }

  /// Replaces an entry with a copy of a file from another file system; not a folder.
  package func placeCopy(of file: String, at path: [UInt8]) throws(Errno) {
    let entry = try entry(at: path)
    let draft = Self.draft
    do throws(Errno) {
      let old = try File.open(file, [.readOnly, .noFollow])
      let new = try File.open(
        draft, in: entry.folder, [.writeOnly, .create, .exclusive, .noFollow])
      var chunk = [UInt8](repeating: 0, count: 256 << 10)
      var size: Int64 = 0
      while true {
        let count = try old.read(into: &chunk)
        if count == 0 { break }
        try new.writeAll(chunk[..<count], at: size, leavesHoles: true)
        size += Int64(count)
      }
      try new.truncate(to: size)
      try new.setMode(try old.status().mode)
      try new.close()
    } catch {
      try? entry.folder.remove(draft)
      throw error
    }
    try entry.replace(withDraft: draft)
  }

  private static var draft: String { ".opflow-\(UInt64.random(in: 0 ... .max))" }

  /// The last component of a path, in its open folder.
  private struct Entry: ~Copyable {
    let folder: Descriptor
    let name: [UInt8]

    func replace(with new: String, in other: Int32) throws(Errno) {
      try FolderBeneath.calling(name) { renameat(other, new, folder.rawValue, $0) }
    }

    /// Removes the draft on failure.
    func replace(withDraft draft: String) throws(Errno) {
      do throws(Errno) {
        try replace(with: draft, in: folder.rawValue)
      } catch {
        try? folder.remove(draft)
        throw error
      }
    }
  }

  private func entry(at path: [UInt8]) throws(Errno) -> Entry {
    let (parent, name) = Self.split(path)
    return Entry(folder: try open(parent, [.readOnly, .directory]), name: name)
  }

  package func setMode(ofFolder path: [UInt8], _ mode: UInt32) throws(Errno) {
    try open(path, [.readOnly, .directory]).setMode(mode)
  }

  package func remove(_ path: String, isFolder: Bool) throws(Errno) {
    try remove(Array(path.utf8), isFolder: isFolder)
  }

  /// Removes a file, link or empty folder, if it exists.
  package func remove(_ path: [UInt8], isFolder: Bool) throws(Errno) {
    do throws(Errno) {
      let entry = try entry(at: path)
      try Self.calling(entry.name) {
        unlinkat(entry.folder.rawValue, $0, isFolder ? AT_REMOVEDIR : 0)
      }
    } catch {
      if error != .noSuchFile && error != .notADirectory { throw error }
    }
  }

  private static func split(_ path: [UInt8]) -> (parent: [UInt8], name: [UInt8]) {
    guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return ([], path) }
    return (Array(path[..<slash]), Array(path[(slash + 1)...]))
  }
}
