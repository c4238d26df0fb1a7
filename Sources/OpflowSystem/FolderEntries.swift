internal import Glibc

/// The entries of a folder, one after the other.
package enum FolderEntries {
  package enum Kind: Sendable {
    case file, directory
    case link
    case other
    /// The file system does not tell: somebody has to look.
    case unknown
  }

  /// Calls `body` for each entry but `.` and `..`, in no order, until it returns false.
  ///
  /// - Parameter body: gets the name, which may be no UTF-8.
  package static func forEach(
    in folder: String, _ body: (UnsafeRawBufferPointer, Kind) -> Bool
  ) throws(Errno) {
    try forEach(inBytes: Array(folder.utf8) + [0], body)
  }

  /// The same of a folder by the bytes of its path, the last of which is zero.
  package static func forEach(
    inBytes folder: [UInt8], _ body: (UnsafeRawBufferPointer, Kind) -> Bool
  ) throws(Errno) {
    // SAFETY: the zero stands there, and nothing keeps the pointer.
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
      // SAFETY: d_name ends with a zero and stays until the next readdir.
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
