internal import CLinux
internal import Glibc

package enum Path {
  /// Resolves symbolic links (realpath(3)).
  package static func real(_ path: String) throws(Errno) -> String {
    try text(owning: realpath(path, nil))
  }

  package static func workingDirectory() throws(Errno) -> String {
    try text(owning: getcwd(nil, 0))
  }

  /// Takes a path that the C library allocated; nil means failure. Replacing invalid UTF-8 would
  /// name another file.
  private static func text(owning found: UnsafeMutablePointer<CChar>?) throws(Errno) -> String {
    guard let found else { throw Errno.current }
    defer { free(found) }
    // SAFETY: a C string that this code owns.
    guard let text = String(validatingCString: found) else { throw .notUTF8 }
    return text
  }

  package static func changeDirectory(to path: String) throws(Errno) {
    try call { chdir(path) }
  }

  package static func status(_ path: String) throws(Errno) -> FileStatus {
    var status = clinux_status()
    try call { clinux_stat(path, 1, &status) }
    return FileStatus(status)
  }

  package static func linkStatus(_ path: String) throws(Errno) -> FileStatus {
    var status = clinux_status()
    try call { clinux_stat(path, 0, &status) }
    return FileStatus(status)
  }

  /// Follows links; `path` is zero-terminated.
  package static func status(ofBytes path: [UInt8]) throws(Errno) -> FileStatus {
    var status = clinux_status()
    // SAFETY: `path` is zero-terminated, and the call does not keep the pointer.
    try call {
      path.withUnsafeBytes {
        clinux_stat($0.baseAddress?.assumingMemoryBound(to: CChar.self), 1, &status)
      }
    }
    return FileStatus(status)
  }

  /// Does not follow links. `path` is zero-terminated, relative to an open folder or
  /// `File.workingFolder`.
  package static func linkStatus(
    ofBytes path: [UInt8], from folder: Int32
  ) throws(Errno) -> FileStatus {
    var status = clinux_status()
    // SAFETY: `path` is zero-terminated, and the call does not keep the pointer.
    try call {
      path.withUnsafeBytes {
        clinux_stat_in(folder, $0.baseAddress?.assumingMemoryBound(to: CChar.self), &status)
      }
    }
    return FileStatus(status)
  }

  /// Throws `invalid` for other files.
  package static func linkTarget(_ path: String) throws(Errno) -> String {
    String(decoding: try linkBytes(path), as: UTF8.self)
  }

  package static func linkBytes(_ path: String) throws(Errno) -> [UInt8] {
    try linkBytes(ofBytes: Array(path.utf8) + [0])
  }

  /// `path` is zero-terminated.
  package static func linkBytes(ofBytes path: [UInt8]) throws(Errno) -> [UInt8] {
    let room = Int(PATH_MAX)
    let bytes = withUnsafeTemporaryAllocation(byteCount: room, alignment: 1) { bytes in
      Result { () throws(Errno) in
        let text = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        // SAFETY: `path` is zero-terminated, and at most `room` bytes are written.
        let count = try call {
          path.withUnsafeBytes { path in
            guard let path = path.baseAddress, let text else { return -1 }
            return readlink(path.assumingMemoryBound(to: CChar.self), text, room)
          }
        }
        return Array(bytes.prefix(count))
      }
    }
    return try bytes.get()
  }

  /// False if unknown; `path` is zero-terminated.
  package static func isFolderWithoutLinks(ofBytes path: [UInt8]) -> Bool {
    // SAFETY: `path` is zero-terminated, and the call does not keep the pointer.
    path.withUnsafeBytes {
      clinux_is_folder_without_links($0.baseAddress?.assumingMemoryBound(to: CChar.self)) == 1
    }
  }

  /// True if not even a link exists; false if unknown.
  package static func isMissing(_ path: String) -> Bool {
    do throws(Errno) {
      _ = try linkStatus(path)
      return false
    } catch {
      return error == .noSuchFile
    }
  }

  package static func exists(_ path: String) -> Bool { (try? status(path)) != nil }

  package static func isDirectory(_ path: String) -> Bool {
    (try? status(path))?.kind == .directory
  }

  package static func makeDirectory(_ path: String, mode: UInt32 = 0o700) throws(Errno) {
    try call { mkdir(path, mode) }
  }

  /// Returns the folders that it made, outermost first.
  @discardableResult
  package static func makeDirectories(
    _ path: String, mode: UInt32 = 0o700
  ) throws(Errno) -> [String] {
    var missing: [String] = []
    var current = path
    while !isDirectory(current) {
      missing.append(current)
      let above = parent(of: current)
      if above == current { break }
      current = above
    }
    var made: [String] = []
    for folder in missing.reversed() {
      do throws(Errno) {
        try makeDirectory(folder, mode: mode)
        made.append(folder)
      } catch {
        // Another process may have made the folder.
        guard error == .exists else { throw error }
        guard isDirectory(folder) else { throw .notADirectory }
      }
    }
    return made
  }

  package static func remove(_ path: String) throws(Errno) {
    try call { unlink(path) }
  }

  package static func removeIfThere(_ path: String) throws(Errno) {
    do throws(Errno) {
      try remove(path)
    } catch {
      if error != .noSuchFile { throw error }
    }
  }

  package static func removeDirectory(_ path: String) throws(Errno) {
    try call { rmdir(path) }
  }

  package static func rename(_ path: String, to new: String) throws(Errno) {
    try call { Glibc.rename(path, new) }
  }

  package static func link(_ path: String, to new: String) throws(Errno) {
    try call { Glibc.link(path, new) }
  }

  package static func symbolicLink(_ target: String, at path: String) throws(Errno) {
    try call { symlink(target, path) }
  }

  /// Unsorted, without `.` and `..`.
  package static func names(in folder: String) throws(Errno) -> [String] {
    var names: [String] = []
    try FolderEntries.forEach(in: folder) { name, _ in
      names.append(String(decoding: name, as: UTF8.self))
      return true
    }
    return names
  }

  /// Makes changes of entries durable (fsync(2)).
  package static func syncFolder(_ path: String) throws(Errno) {
    try File.open(path, [.readOnly, .directory]).sync()
  }

  package static func name(_ path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }

  /// `.` for a bare name, `/` for the root.
  package static func parent(of path: String) -> String {
    let bytes = Array(path.utf8)
    let slash = UInt8(ascii: "/")
    guard let last = bytes.lastIndex(where: { $0 != slash }) else {
      return bytes.isEmpty ? "." : "/"
    }
    guard let cut = bytes[...last].lastIndex(of: slash) else { return "." }
    guard let end = bytes[..<cut].lastIndex(where: { $0 != slash }) else { return "/" }
    return String(decoding: bytes[...end], as: UTF8.self)
  }
}
