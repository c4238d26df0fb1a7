/// One file of a manifest: its bytes, and what the user calls it.
final class SourceFile {
  /// In the order in which files are come upon; the manifest itself is 0.
  let number: UInt32
  /// As diagnostics name it.
  let displayPath: String
  /// The bytes, as long as the file lives.
  let text: Text
  private let bytes: [UInt8]

  init(number: UInt32 = 0, displayPath: String, bytes: [UInt8]) {
    self.number = number
    self.displayPath = displayPath
    self.bytes = bytes
    // SAFETY: the elements of an array stand where they are until it is changed or released, and this
    // one is constant and lives as long as `self`.
    text = bytes.withUnsafeBytes { $0 }
  }

  func place(_ offset: Int) -> Place { Place(file: number, offset: offset) }
}
