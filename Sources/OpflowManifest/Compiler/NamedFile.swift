/// A file that a manifest names.
package struct NamedFile: Sendable {
  package var bytes: [UInt8]
  /// Without symbolic links.
  package var realPath: String
  package var number: FileNumber

  package init(bytes: [UInt8], realPath: String, number: FileNumber) {
    self.bytes = bytes
    self.realPath = realPath
    self.number = number
  }
}

/// Device and inode: equal for two names of a file.
package struct FileNumber: Hashable, Sendable {
  package var device: UInt64
  package var inode: UInt64

  package init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }
}

/// Why a file cannot be read.
package enum NamedFileFault: Error, Equatable, Sendable {
  case missing
  /// It is something else, such as `a folder`.
  case noFile(String)
  case tooLarge
  /// The error message of the system.
  case failed(String)
}
