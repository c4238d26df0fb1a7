internal import Glibc

package enum FolderEntries {
  package enum Kind: Sendable {
    case file, directory
    case link
    case other
    /// The file system does not say; call stat.
    case unknown
  }

  /// Calls `body` with each name except `.` and `..`, unsorted and not always UTF-8, until it
  /// returns false.
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
