/// Where something stands: in a file, so that a mistake in any file is shown in that file.
struct Place: Hashable, Comparable {
  /// `SourceFile.number`.
  var file: UInt32
  /// In bytes. Files are below 1 GiB.
  private var bytes: UInt32

  init(file: UInt32, offset: Int) {
    self.file = file
    bytes = UInt32(truncatingIfNeeded: offset)
  }

  /// In bytes.
  var offset: Int { Int(bytes) }

  /// Files in the order in which they were come upon.
  static func < (a: Place, b: Place) -> Bool { (a.file, a.bytes) < (b.file, b.bytes) }
}
