internal import CLinux
internal import Glibc

/// What stat(2) says of a file.
package struct FileStatus: Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    case file, directory, link, device, fifo, socket, other
  }

  package let kind: Kind
  /// The permission bits.
  package let mode: UInt32
  package let owner: UInt32
  package let group: UInt32
  package let sizeBytes: Int64
  /// Since the epoch.
  package let modifiedNanoseconds: Int64
  /// When its contents, bits, names or owner were changed, since the epoch.
  package let changedNanoseconds: Int64
  /// Names that it has; 0 for one that is open and has none any more.
  package let linkCount: UInt64
  /// Device and inode: equal for two names of one file.
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
    modifiedNanoseconds =
      status.modified_seconds &* 1_000_000_000 &+ status.modified_nanoseconds
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
  /// Whether somebody has the file, which is open here for reading, open for writing, or mapped so. What is written
  /// through a mapping need not change its times. False where that cannot be found out. Close the file at once.
  package borrowing func isOpenForWriting() -> Bool { clinux_is_open_for_writing(rawValue) == 1 }

  /// Sets when the file was last modified, since the epoch; the file system may round it.
  package borrowing func setModified(nanoseconds: Int64) throws(Errno) {
    let descriptor = rawValue
    let time = timespec(
      tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    try call { futimens(descriptor, [time, time]) }
  }
}

/// Opening files. Every descriptor is close-on-exec.
package enum File {
  /// The flags of open(2) that are used here.
  package struct Flags: OptionSet, Sendable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }
    // The standard library's own looks types up at run time when it is used from another module.
    package init(arrayLiteral flags: Flags...) {
      rawValue = flags.reduce(0) { $0 | $1.rawValue }
    }

    package static let readOnly = Flags(rawValue: O_RDONLY)
    package static let writeOnly = Flags(rawValue: O_WRONLY)
    package static let readWrite = Flags(rawValue: O_RDWR)
    package static let create = Flags(rawValue: O_CREAT)
    /// With `create`: fail when it is there already.
    package static let exclusive = Flags(rawValue: O_EXCL)
    package static let truncate = Flags(rawValue: O_TRUNC)
    package static let append = Flags(rawValue: O_APPEND)
    /// Fail when the last part of the path is a symbolic link.
    package static let noFollow = Flags(rawValue: O_NOFOLLOW)
    package static let directory = Flags(rawValue: O_DIRECTORY)
    package static let nonblocking = Flags(rawValue: O_NONBLOCK)
    /// A terminal does not become that of this process.
    package static let noTerminal = Flags(rawValue: O_NOCTTY)
    /// What is left out to open a file that is there.
    fileprivate static let making = Flags(rawValue: O_CREAT | O_EXCL | O_NOFOLLOW)
    /// To start paths from, and for nothing else: it need not be readable.
    package static let pathOnly = Flags(rawValue: clinux_path_only)
    /// Reading leaves the time of the last access as it is; refused for files of other users.
    package static let noAccessTime = Flags(rawValue: clinux_no_access_time)
  }

  /// `mode` is that of a file which the call creates.
  package static func open(
    _ path: String, _ flags: Flags, mode: UInt32 = 0o600
  ) throws(Errno) -> Descriptor {
    Descriptor(owning: try call { Glibc.open(path, flags.rawValue | O_CLOEXEC, mode) })
  }

  /// Opens a file that opflow keeps for itself. Whatever else stands in its place, as somebody may have put it
  /// there, is refused and never waited for: a link, a FIFO, a device, a socket, a folder.
  ///
  /// - Parameter followsLink: for a file that others keep.
  /// - Throws: `notRegular`.
  package static func openRegular(
    _ path: String, _ flags: Flags, mode: UInt32 = 0o600, followsLink: Bool = false
  ) throws(Errno) -> Descriptor {
    try regular(followsLink ? flags : flags.union(.noFollow)) { flags throws(Errno) in
      try open(path, flags, mode: mode)
    }
  }

  /// `path` is relative to the folder that is open at `folder`.
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
      // A server of files has lent it to another machine, and has to ask for it back (fcntl(2), F_SETLEASE).
      let place = try open(flags.intersection(.noFollow).union(.pathOnly))
      guard try place.status().kind == .file else { throw .notRegular }
      return try Self.open("/proc/self/fd/\(place.rawValue)", flags.subtracting(.making))
    } catch {
      throw [.tooManyLinks, .noDevice, .isADirectory].contains(error) ? .notRegular : error
    }
    guard try file.status().kind == .file else { throw .notRegular }
    return file
  }

  /// `path` is relative to the folder that is open at `folder`.
  package static func open(
    _ path: String, in folder: borrowing Descriptor, _ flags: Flags, mode: UInt32 = 0o600
  ) throws(Errno) -> Descriptor {
    let at = folder.rawValue
    return Descriptor(owning: try call { openat(at, path, flags.rawValue | O_CLOEXEC, mode) })
  }

  /// Where paths start that start from no open folder (openat(2), AT_FDCWD).
  package static let workingFolder = AT_FDCWD

  /// Opens a path by its bytes, the last of which is zero.
  ///
  /// - Parameter folder: a folder that is open, or `workingFolder`.
  package static func open(
    ofBytes path: [UInt8], from folder: Int32, _ flags: Flags
  ) throws(Errno) -> Descriptor {
    // SAFETY: the zero stands there, and nothing keeps the pointer.
    Descriptor(
      owning: try call {
        path.withUnsafeBytes {
          guard let path = $0.baseAddress?.assumingMemoryBound(to: CChar.self) else { return -1 }
          return openat(folder, path, flags.rawValue | O_CLOEXEC)
        }
      })
  }

  /// Permission bits that new files of this process do not get (umask(2)). Only while it has one
  /// thread: to be read, they have to be set.
  package static var creationMask: UInt32 {
    let mask = umask(0o077)
    _ = umask(mask)
    return UInt32(mask)
  }

  /// Opens the file of `descriptor` once more, for writing past the page cache (open(2), O_DIRECT):
  /// memory, offset and length must be multiples of what the file system wants, of which 4096 is one.
  package static func reopenDirect(
    _ descriptor: borrowing Descriptor
  ) throws(Errno) -> Descriptor {
    let number = descriptor.rawValue
    return Descriptor(owning: try call { clinux_reopen_direct(number) })
  }

  /// A file without a name, in memory: for what another program is to read or to write.
  package static func inMemory() throws(Errno) -> Descriptor {
    Descriptor(owning: try call { clinux_memory_file() })
  }

  package static func openNull() throws(Errno) -> Descriptor {
    try open("/dev/null", .readWrite)
  }

  /// All of a file's bytes; files of /proc too, whose size nobody knows beforehand.
  package static func read(_ path: String) throws(Errno) -> [UInt8] {
    try open(path, .readOnly).readAll()
  }

  /// The same of a file that opflow keeps for itself.
  ///
  /// - Throws: `fileTooBig` where it has more than `limit` bytes.
  package static func readRegular(_ path: String, atMost limit: Int) throws(Errno) -> [UInt8] {
    let file = try openRegular(path, .readOnly)
    guard try file.status().sizeBytes <= limit else { throw .fileTooBig }
    return try file.readAll(atMost: limit)
  }

  /// Writes a file so that `path` shows all of the new content or what was there before, but for what happens to
  /// the machine: nothing is synced.
  package static func put(
    _ bytes: [UInt8], at path: String, mode: UInt32 = 0o600
  ) throws(Errno) {
    try bytes.withUnsafeBufferPointer { all throws(Errno) in
      try place(UnsafeRawBufferPointer(all), at: path, mode, isSynced: false)
    }
  }

  /// Writes a file so that `path` shows all of the new content or what was there before, whatever
  /// happens: to `path` with `.new` behind it, synced, renamed, and the folder synced.
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
      let file = try open(
        temporary, [.writeOnly, .create, .exclusive, .noFollow], mode: mode)
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
