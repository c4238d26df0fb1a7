internal import CTransfer
internal import OpflowCore
internal import OpflowSystem

/// The part without an encoding that nobody asked for, written beside it piece by piece.
final class DecodedPart {
  private let part: PartFile
  private let path: String
  private let file: SharedFile
  private let hash: ContentHash
  // SAFETY: created in init, freed in deinit, used by this object alone.
  private let inflater: OpaquePointer
  private var output: UnsafeMutableRawBufferPointer
  private var position: Int64 = 0
  private var isAtEnd = false

  private static let pieceBytes = 256 * 1024

  init(_ part: PartFile) throws(DownloadFailure) {
    path = part.spec.partPath + ".decoded"
    guard let hash = ContentHash(for: part.spec), let inflater = ctransfer_inflate_create() else {
      throw LocalFailure.of("cannot decode", .noMemory)
    }
    self.part = part
    self.hash = hash
    self.inflater = inflater
    output = .allocate(byteCount: Self.pieceBytes, alignment: 64)
    do throws(Errno) {
      try? Path.remove(path)
      file = SharedFile(try File.open(path, [.readWrite, .create, .exclusive, .noFollow]))
    } catch {
      // Everything else is set, so deinit frees it.
      throw LocalFailure.of("cannot write \(path)", error)
    }
  }

  deinit {
    ctransfer_inflate_free(inflater)
    output.deallocate()
  }

  var facts: FileFacts { hash.facts }

  /// Decodes the next piece; false once all is done.
  func advance() throws(DownloadFailure) -> Bool {
    let isMore = try part.withPiece(at: position) { piece throws(DownloadFailure) in
      if piece.isEmpty { return false }
      position += Int64(piece.count)
      try decode(piece)
      return true
    }
    if !isMore, !isAtEnd {
      throw DownloadFailure(.truncated, "the encoded content ends too early")
    }
    return isMore
  }

  private func decode(_ piece: UnsafeRawBufferPointer) throws(DownloadFailure) {
    var rest = piece
    while true {
      var taken = 0
      var given = 0
      // SAFETY: reads at most `count` bytes of the piece, writes at most `pieceBytes`.
      let state = ctransfer_inflate_step(
        inflater, rest.baseAddress?.assumingMemoryBound(to: UInt8.self), rest.count, &taken,
        output.baseAddress?.assumingMemoryBound(to: UInt8.self), output.count, &given)
      guard state >= 0 else {
        throw DownloadFailure(.encoding, "the encoded content is broken")
      }
      isAtEnd = state == 1
      try write(UnsafeRawBufferPointer(rebasing: output[..<given]))
      rest = UnsafeRawBufferPointer(rebasing: rest[taken...])
      if rest.isEmpty, given < output.count { return }
    }
  }

  private func write(_ bytes: UnsafeRawBufferPointer) throws(DownloadFailure) {
    hash.update(bytes)
    if let size = part.spec.sizeBytes, hash.byteCount > size {
      throw DownloadFailure(.wrongSize, "decodes to more than the \(size) bytes it should have")
    }
    do throws(Errno) {
      try file.descriptor.writeAll(bytes)
    } catch {
      throw LocalFailure.of("cannot write \(path)", error)
    }
  }

  /// The decoded file, to be put in place of the target.
  func finished(mode: UInt32) throws(DownloadFailure) -> FinishedFile {
    try FinishedFile(file, path: path, target: part.spec.target, mode: mode)
  }

  func remove() { try? Path.remove(path) }
}
