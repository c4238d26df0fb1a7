final class SourceFile {
  /// Numbers files in order of discovery; the root is 0.
  let number: UInt32
  let displayPath: String
  /// Valid as long as this object.
  let text: ByteView
  private let bytes: [UInt8]

  init(number: UInt32 = 0, displayPath: String, bytes: [UInt8]) {
    self.number = number
    self.displayPath = displayPath
    self.bytes = bytes
    // SAFETY: an array's elements keep their address until the array changes or is released, and
    // `bytes` is constant and lives as long as `self`.
    text = bytes.withUnsafeBytes { $0 }
  }

  /// The offset of the first byte that is not valid UTF-8.
  var firstWrong: Int? {
    let bytes = bytes
    do throws(UTF8.ValidationError) {
      _ = try UTF8Span(validating: bytes.span)
      return nil
    } catch {
      return error.byteOffsets.lowerBound
    }
  }

  func place(_ offset: Int) -> Place { Place(file: number, offset: offset) }
}

struct Place: Hashable, Comparable {
  var file: UInt32
  /// Files are below 1 GiB.
  private var bytes: UInt32

  init(file: UInt32, offset: Int) {
    self.file = file
    bytes = UInt32(truncatingIfNeeded: offset)
  }

  var offset: Int { Int(bytes) }

  static func < (a: Place, b: Place) -> Bool { (a.file, a.bytes) < (b.file, b.bytes) }
}
