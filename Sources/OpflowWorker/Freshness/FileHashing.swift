internal import OpflowCore
internal import OpflowSystem

/// Reads a file for a hash of it, a piece at a time.
final class FileHashing {
  private let file: Descriptor
  private let expected: FileStamp
  private var seen: SeenFile
  private let hash: ContentHasher
  private var buffer = [UInt8](repeating: 0, count: FileHashing.pieceBytes)
  private var count: Int64 = 0

  private static let pieceBytes = 256 << 10

  /// - Parameter expected: of the file that was found there.
  init(_ path: String, expected: FileStamp, into seen: SeenFile, _ hash: ContentHash) throws(Errno)
  {
    file = try File.open(path, [.readOnly, .noFollow, .nonblocking])
    guard let hasher = ContentHasher(hash) else { throw .noMemory }
    self.hash = hasher
    self.expected = expected
    self.seen = seen
    let status = try file.status()
    // Something else was put in its place.
    guard status.kind == .file else { throw .noSuchFile }
  }

  /// The next piece; what was seen once all was read. What changed meanwhile is not known again.
  func goOn() throws(Errno) -> SeenFile? {
    let got = try buffer.withUnsafeMutableBufferPointer { room throws(Errno) in
      try file.read(into: UnsafeMutableRawBufferPointer(room))
    }
    if got > 0 {
      buffer.withUnsafeBytes { hash.add(UnsafeRawBufferPointer(rebasing: $0[..<got])) }
      count += Int64(got)
      // What grows as fast as it is read has no end.
      if count <= expected.sizeBytes { return nil }
    }
    seen.content = hash.content
    if try FileStamp(file.status()) != expected || count != expected.sizeBytes { seen.stamp = nil }
    return seen
  }
}
