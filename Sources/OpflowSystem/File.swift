internal import CLinux
internal import Glibc

package struct FileStatus: Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    case file, directory, link, device, fifo, socket, other
  }

  package let kind: Kind
  package let mode: UInt32
  package let owner: UInt32
  package let group: UInt32
  package let sizeBytes: Int64
  package let modifiedNanoseconds: Int64
  /// The last change of content, mode, owner or links.
  package let changedNanoseconds: Int64
  /// 0 for an open, removed file.
  package let linkCount: UInt64
  /// Equal for hard links to one file.
  package let identity: FileIdentity

  init(_ status: clinux_status) {
    switch status.mode & UInt32(S_IFMT) {
    case UInt32(S_IFREG): kind = .file
    case UInt32(S_IFDIR): kind = .directory
    case UInt32(S_IFLNK): kind = .link
    case UInt32(S_IFCHR), UInt32(S_IFBLK): kind = .device
    case UInt32(S_IFIFO): kind = .fifo
    case UInt32(S_IFSOCK): kind = .socket
    default: kind = .other
    }
    mode = status.mode & 0o7777
    owner = status.owner
    group = status.group
    sizeBytes = status.size
    modifiedNanoseconds = status.modified_seconds &* 1_000_000_000 &+ status.modified_nanoseconds
    changedNanoseconds = status.changed_seconds &* 1_000_000_000 &+ status.changed_nanoseconds
    linkCount = status.links
    identity = FileIdentity(device: status.device, inode: status.inode)
  }
}

package struct FileIdentity: Hashable, Sendable {
  package let device: UInt64
  package let inode: UInt64
}

extension Descriptor {
  /// True if any process has this file, open here for reading, open or mapped for writing: writes
  /// through a mapping need not change its times. False if unknown. Close the file right
  /// afterwards.
  package borrowing func isOpenForWriting() -> Bool { clinux_is_open_for_writing(rawValue) == 1 }

  /// The file system may round the time.
  package borrowing func setModified(nanoseconds: Int64) throws(Errno) {
    let time = timespec(
      tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    try call { futimens(rawValue, [time, time]) }
  }
}

/// Opens files, all close-on-exec.
package enum File {
  package struct Flags: OptionSet, Sendable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }
    // The standard library's initializer looks up types at run time in another module.
    package init(arrayLiteral flags: Flags...) {
      rawValue = flags.reduce(0) { $0 | $1.rawValue }
    }

    package static let readOnly = Flags(rawValue: O_RDONLY)
    package static let writeOnly = Flags(rawValue: O_WRONLY)
    package static let readWrite = Flags(rawValue: O_RDWR)
    package static let create = Flags(rawValue: O_CREAT)
    package static let exclusive = Flags(rawValue: O_EXCL)
    package static let truncate = Flags(rawValue: O_TRUNC)
    package static let append = Flags(rawValue: O_APPEND)
    /// Fails if the last component is a link.
    package static let noFollow = Flags(rawValue: O_NOFOLLOW)
    package static let directory = Flags(rawValue: O_DIRECTORY)
    package static let nonblocking = Flags(rawValue: O_NONBLOCK)
    package static let noTerminal = Flags(rawValue: O_NOCTTY)
    /// Dropped when an existing file is opened.
    fileprivate static let making = Flags(rawValue: O_CREAT | O_EXCL | O_NOFOLLOW)
    /// For resolving paths only (O_PATH), also through unreadable folders.
    package static let pathOnly = Flags(rawValue: clinux_path_only)
    /// Refused for files of other users.
    package static let noAccessTime = Flags(rawValue: clinux_no_access_time)
  }

  package static func open(
    _ path: String, _ flags: Flags, mode: UInt32 = 0o600
  ) throws(Errno) -> Descriptor {
    Descriptor(owning: try call { Glibc.open(path, flags.rawValue | O_CLOEXEC, mode) })
  }

  /// Opens one of opflow's own files. Throws `notRegular` without blocking for anything else that
  /// may have been planted: link (unless `followsLink`), FIFO, device, socket or folder.
  package static func openRegular(
    _ path: String, _ flags: Flags, mode: UInt32 = 0o600, followsLink: Bool = false
  ) throws(Errno) -> Descriptor {
    try regular(followsLink ? flags : flags.union(.noFollow)) { flags throws(Errno) in
      try open(path, flags, mode: mode)
    }
  }

  package static func openRegular(
    _ path: String, in folder: borrowing Descriptor, _ flags: Flags, mode: UInt32 = 0o600
  ) throws(Errno) -> Descriptor {
    try regular(flags.union(.noFollow)) { flags throws(Errno) in
      try open(path, in: folder, flags, mode: mode)
    }
  }

  private static func regular(
    _ flags: Flags, _ open: (Flags) throws(Errno) -> Descriptor
  ) throws(Errno) -> Descriptor {
    let file: Descriptor
    do throws(Errno) {
      file = try open(flags.union([.nonblocking, .noTerminal]))
    } catch .wouldBlock {
      // A file server must first revoke another computer's delegation (fcntl(2), F_SETLEASE).
      let place = try open(flags.intersection(.noFollow).union(.pathOnly))
      guard try place.status().kind == .file else { throw .notRegular }
      return try Self.open("/proc/self/fd/\(place.rawValue)", flags.subtracting(.making))
    } catch {
      throw [.tooManyLinks, .noDevice, .isADirectory].contains(error) ? .notRegular : error
    }
    guard try file.status().kind == .file else { throw .notRegular }
    return file
  }

  package static func open(
    _ path: String, in folder: borrowing Descriptor, _ flags: Flags, mode: UInt32 = 0o600
  ) throws(Errno) -> Descriptor {
    return Descriptor(
      owning: try call { openat(folder.rawValue, path, flags.rawValue | O_CLOEXEC, mode) })
  }

  package static let workingFolder = AT_FDCWD

  /// `path` is zero-terminated and relative to an open folder or `workingFolder`.
  package static func open(
    ofBytes path: [UInt8], from folder: Int32, _ flags: Flags
  ) throws(Errno) -> Descriptor {
    // SAFETY: `path` is zero-terminated, and the call does not keep the pointer.
    Descriptor(
      owning: try call {
        path.withUnsafeBytes {
          guard let path = $0.baseAddress?.assumingMemoryBound(to: CChar.self) else { return -1 }
          return openat(folder, path, flags.rawValue | O_CLOEXEC)
        }
      })
  }

  /// The umask. Reading sets it: only while the process has one thread.
  package static var creationMask: UInt32 {
    let mask = umask(0o077)
    _ = umask(mask)
    return UInt32(mask)
  }

  /// Opens the file again for direct I/O (O_DIRECT). Memory, offset and length must be multiples of
  /// the file system's unit; 4096 always works.
  package static func reopenDirect(_ descriptor: borrowing Descriptor) throws(Errno) -> Descriptor {
    return Descriptor(owning: try call { clinux_reopen_direct(descriptor.rawValue) })
  }

  package static func inMemory() throws(Errno) -> Descriptor {
    Descriptor(owning: try call { clinux_memory_file() })
  }

  package static func openNull() throws(Errno) -> Descriptor {
    try open("/dev/null", .readWrite)
  }

  /// Also reads files of /proc, whose size is unknown.
  package static func read(_ path: String) throws(Errno) -> [UInt8] {
    try open(path, .readOnly).readAll()
  }

  /// Throws `fileTooBig` above `limit` bytes.
  package static func readRegular(_ path: String, atMost limit: Int) throws(Errno) -> [UInt8] {
    let file = try openRegular(path, .readOnly)
    guard try file.status().sizeBytes <= limit else { throw .fileTooBig }
    return try file.readAll(atMost: limit)
  }

  /// Replaces a file atomically, without a sync: undefined after a machine crash.
  package static func put(_ bytes: [UInt8], at path: String, mode: UInt32 = 0o600) throws(Errno) {
    try bytes.withUnsafeBufferPointer { all throws(Errno) in
      try place(UnsafeRawBufferPointer(all), at: path, mode, isSynced: false)
    }
  }

  /// Replaces a file atomically and durably, through `path` + `.new`.
  package static func replace(
    _ path: String, with bytes: UnsafeRawBufferPointer, mode: UInt32 = 0o600
  ) throws(Errno) {
    try place(bytes, at: path, mode, isSynced: true)
    try Path.syncFolder(Path.parent(of: path))
  }

  private static func place(
    _ bytes: UnsafeRawBufferPointer, at path: String, _ mode: UInt32, isSynced: Bool
  ) throws(Errno) {
    let temporary = path + ".new"
    do {
      try? Path.remove(temporary)
      let file = try open(temporary, [.writeOnly, .create, .exclusive, .noFollow], mode: mode)
      try file.writeAll(bytes)
      if isSynced { try file.sync() }
      try file.close()
      try Path.rename(temporary, to: path)
    } catch {
      try? Path.remove(temporary)
      throw error
    }
  }
}

extension Descriptor {
  /// Removes an entry, one path component, with everything in it; changes permissions where needed.
  /// Does not follow links or enter mounts. Throws the first error; the rest is removed.
  package borrowing func removeTree(_ name: String) throws(Errno) {
    try call { clinux_remove_tree(rawValue, name) }
  }

  /// The bytes that a removal would free, without files linked elsewhere; 0 if unreadable.
  package borrowing func treeBytes(_ name: String) -> Int64 {
    clinux_tree_bytes(rawValue, name)
  }

  package borrowing func rename(_ name: String, to new: String) throws(Errno) {
    try call { renameat(rawValue, name, rawValue, new) }
  }

  package borrowing func names() throws(Errno) -> [String] {
    try Path.names(in: "/proc/self/fd/\(rawValue)")
  }

  /// Throws the first error; the rest is removed.
  package borrowing func removeContents() throws(Errno) {
    try call { clinux_empty_folder(rawValue) }
  }
}

extension Path {
  /// Does nothing if `folder` is missing; fails if it is a link.
  package static func removeTree(_ name: String, in folder: String) throws(Errno) {
    do throws(Errno) {
      try File.open(folder, [.readOnly, .directory, .noFollow]).removeTree(name)
    } catch .noSuchFile {
      return
    }
  }
}

package enum FolderEntries {
  package enum Kind: Sendable {
    case file, directory
    case link
    case other
    /// The file system does not say; call stat.
    case unknown
  }

  /// Calls `body` with each name except `.` and `..`, unsorted, maybe not UTF-8, until it returns
  /// false.
  package static func forEach(
    in folder: String, _ body: (UnsafeRawBufferPointer, Kind) -> Bool
  ) throws(Errno) {
    try forEach(inBytes: Array(folder.utf8) + [0], body)
  }

  /// `folder` is zero-terminated.
  package static func forEach(
    inBytes folder: [UInt8], _ body: (UnsafeRawBufferPointer, Kind) -> Bool
  ) throws(Errno) {
    // SAFETY: `folder` is zero-terminated, and the call does not keep the pointer.
    let opened = folder.withUnsafeBytes { bytes in
      bytes.baseAddress.flatMap { opendir($0.assumingMemoryBound(to: CChar.self)) }
    }
    guard let stream = opened else { throw Errno.current }
    defer { closedir(stream) }
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw Errno.current }
        return
      }
      let kind: Kind =
        switch Int(entry.pointee.d_type) {
        case Int(DT_REG): .file
        case Int(DT_DIR): .directory
        case Int(DT_LNK): .link
        case Int(DT_UNKNOWN): .unknown
        default: .other
        }
      // SAFETY: d_name is zero-terminated and stays until the next readdir.
      let goesOn = withUnsafePointer(to: &entry.pointee.d_name) { name in
        let start = UnsafeRawPointer(name)
        let count = strlen(start.assumingMemoryBound(to: CChar.self))
        let bytes = UnsafeRawBufferPointer(start: start, count: count)
        return bytes.elementsEqual(".".utf8) || bytes.elementsEqual("..".utf8) || body(bytes, kind)
      }
      if !goesOn { return }
    }
  }
}
