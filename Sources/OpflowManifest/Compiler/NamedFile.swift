/// A further file that a manifest names, as it was found.
package struct NamedFile: Sendable {
  package var bytes: [UInt8]
  /// With no symbolic link in it.
  package var realPath: String
  package var number: FileNumber

  package init(bytes: [UInt8], realPath: String, number: FileNumber) {
    self.bytes = bytes
    self.realPath = realPath
    self.number = number
  }
}

/// Device and inode: equal for two names of one file.
package struct FileNumber: Hashable, Sendable {
  package var device: UInt64
  package var inode: UInt64

  package init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }
}

/// Why a file that a manifest names is not read.
package enum NamedFileFault: Error, Equatable, Sendable {
  case missing
  /// It is something else, in a few words: `a folder`.
  case noFile(String)
  case tooLarge
  /// The system's words.
  case failed(String)
}
