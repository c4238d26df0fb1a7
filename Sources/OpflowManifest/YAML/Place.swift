/// An offset in a file.
struct Place: Hashable, Comparable {
  /// `SourceFile.number`.
  var file: UInt32
  /// Offset in bytes; files are below 1 GiB.
  private var bytes: UInt32

  init(file: UInt32, offset: Int) {
    self.file = file
    bytes = UInt32(truncatingIfNeeded: offset)
  }

  var offset: Int { Int(bytes) }

  /// Sorts by file number, which is the order of discovery.
  static func < (a: Place, b: Place) -> Bool { (a.file, a.bytes) < (b.file, b.bytes) }
}
