internal import OpflowPlan
internal import OpflowSystem

/// In pieces.
final class FileHashing {
  private let file: Descriptor
  private let expected: FileStamp
  private var seen: SeenFile
  private let hash: ContentHasher
  private let piece: FilePiece
  private var count: Int64 = 0

  /// `expected` is the stamp found by the scan.
  init(
    _ file: consuming Descriptor, expected: FileStamp, into seen: SeenFile, _ hash: ContentHash,
    _ piece: FilePiece
  ) throws(Errno) {
    self.file = file
    guard let hasher = ContentHasher(hash) else { throw .noMemory }
    self.hash = hasher
    self.expected = expected
    self.seen = seen
    self.piece = piece
  }

  var isShort: Bool { expected.sizeBytes <= FilePiece.size }

  /// Returns the result at the end. A file that changed meanwhile gets no stamp, so it is read
  /// again next time.
  func goOn() throws(Errno) -> SeenFile? {
    // After all expected bytes, the status shows that there are no more. Generated kernel files
    // claim to be empty.
    if count > 0, count == expected.sizeBytes, try stamp() == expected {
      return whole
    }
    let got: Int
    do throws(Errno) {
      got = try file.read(into: piece.bytes)
    } catch {
      _ = try stamp()
      throw error
    }
    hash.add(UnsafeRawBufferPointer(rebasing: piece.bytes[..<got]))
    count += Int64(got)
    // A file that grows while it is read might never end.
    if got > 0, count <= expected.sizeBytes { return nil }
    let stamp = try stamp()
    if count != expected.sizeBytes || stamp != expected { seen.stamp = nil }
    return whole
  }

  /// A file open for writing gets no stamp: a write through a mapping changes no time if the page
  /// is dirty already.
  private var whole: SeenFile {
    var seen = seen
    seen.content = hash.content
    if seen.stamp != nil, file.isOpenForWriting() { seen.stamp = nil }
    return seen
  }

  /// Throws `noSuchFile` unless it is a regular file.
  private func stamp() throws(Errno) -> FileStamp {
    let status = try file.status()
    guard status.kind == .file else { throw .noSuchFile }
    return FileStamp(status)
  }
}

/// Shared by all files that a process reads: allocating it takes longer than reading most files.
final class FilePiece {
  fileprivate static let size = 256 << 10

  // SAFETY: owned by this object alone, for as long as it lives.
  fileprivate let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 64)

  deinit { bytes.deallocate() }
}
