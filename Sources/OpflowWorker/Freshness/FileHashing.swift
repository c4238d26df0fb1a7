internal import OpflowCore
internal import OpflowSystem

/// Reads a file for a hash of it, a piece at a time.
final class FileHashing {
  private let file: Descriptor
  private let expected: FileStamp
  private var seen: SeenFile
  private let hash: ContentHasher
  private let piece: FilePiece
  private var count: Int64 = 0

  /// - Parameters:
  ///   - file: that is open.
  ///   - expected: of the file that was found there.
  ///   - piece: to read into.
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

  /// Whether one piece is all that should be there.
  var isShort: Bool { expected.sizeBytes <= FilePiece.size }

  /// The next piece; what was seen once all was read. What changed meanwhile is not known again.
  func goOn() throws(Errno) -> SeenFile? {
    // Where all of it was read that it should have, its status tells that there is no more. Files that a kernel
    // makes up say that they are empty.
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
    // What grows as fast as it is read has no end.
    if got > 0, count <= expected.sizeBytes { return nil }
    let stamp = try stamp()
    if count != expected.sizeBytes || stamp != expected { seen.stamp = nil }
    return whole
  }

  /// What is open for writing may be changed through a mapping without a trace: a page that was written and is not on
  /// the disk yet changes no time when it is written again.
  private var whole: SeenFile {
    var seen = seen
    seen.content = hash.content
    if seen.stamp != nil, file.isOpenForWriting() { seen.stamp = nil }
    return seen
  }

  /// Of what is open there.
  ///
  /// - Throws: `noSuchFile` where something else was put in the file's place.
  private func stamp() throws(Errno) -> FileStamp {
    let status = try file.status()
    guard status.kind == .file else { throw .noSuchFile }
    return FileStamp(status)
  }
}

/// Room for a piece of a file. One for all files that a process reads: to make it takes longer than to read
/// most of them.
final class FilePiece {
  fileprivate static let size = 256 << 10

  // SAFETY: of this object alone, for as long as it lives.
  fileprivate let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 64)

  deinit { bytes.deallocate() }
}
