internal import CTransfer
internal import OpflowDownload
internal import OpflowPlan
internal import OpflowSystem

/// Decodes a part that the server encoded unasked, into a file beside it.
final class DecodedPart {
  private let part: PartFile
  private let path: String
  private let file: SharedFile
  private let hash: ContentHash
  /// Outermost first.
  private let layers: [Layer]
  private var position: Int64 = 0

  /// Decoded bytes per encoded byte if no size is known; text reaches 20.
  private static let mostGrowth: Int64 = 100
  private static let alwaysDecodedBytes: Int64 = 64 << 20

  private final class Layer {
    static let pieceBytes = 256 * 1024

    // SAFETY: created in init, freed in deinit, used by this object alone.
    let inflater: OpaquePointer
    let output = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceBytes, alignment: 64)
    var isAtEnd = false

    init?() {
      guard let inflater = ctransfer_inflate_create() else { return nil }
      self.inflater = inflater
    }

    deinit {
      ctransfer_inflate_free(inflater)
      output.deallocate()
    }
  }

  init(_ part: PartFile, layers count: Int) throws(DownloadFailure) {
    path = part.spec.decodedPath
    let layers = (0..<count).compactMap { _ in Layer() }
    guard let hash = ContentHash(for: part.spec), layers.count == count else {
      throw LocalFailure.of("cannot decode", .noMemory)
    }
    self.part = part
    self.hash = hash
    self.layers = layers
    try Place.clear(path)
    do throws(Errno) {
      file = try SharedFile(try File.open(path, [.readWrite, .create, .exclusive, .noFollow]))
    } catch {
      throw LocalFailure.of("cannot write \(path)", error)
    }
  }

  var facts: FileFacts { hash.facts }

  /// Returns false at the end.
  func advance() throws(DownloadFailure) -> Bool {
    let isMore = try part.withPiece(at: position) { piece throws(DownloadFailure) in
      if piece.isEmpty { return false }
      position += Int64(piece.count)
      try decode(piece, layers[...])
      return true
    }
    if !isMore, !layers.allSatisfy(\.isAtEnd) {
      throw DownloadFailure(.truncated, "the encoded content ends too early")
    }
    return isMore
  }

  private func decode(
    _ piece: UnsafeRawBufferPointer, _ layers: ArraySlice<Layer>
  ) throws(DownloadFailure) {
    guard let layer = layers.first else {
      try write(piece)
      return
    }
    let output = layer.output
    var rest = piece
    while true {
      var taken = 0
      var given = 0
      // SAFETY: reads at most `count` bytes of the piece, writes at most `pieceBytes`.
      let state = ctransfer_inflate_step(
        layer.inflater, rest.baseAddress?.assumingMemoryBound(to: UInt8.self), rest.count, &taken,
        output.baseAddress?.assumingMemoryBound(to: UInt8.self), output.count, &given)
      guard state >= 0 else {
        throw DownloadFailure(.encoding, "the encoded content is broken")
      }
      layer.isAtEnd = state == 1
      if given > 0 {
        try decode(UnsafeRawBufferPointer(rebasing: output[..<given]), layers.dropFirst())
      }
      rest = UnsafeRawBufferPointer(rebasing: rest[taken...])
      if rest.isEmpty, given < output.count { return }
    }
  }

  private func write(_ bytes: UnsafeRawBufferPointer) throws(DownloadFailure) {
    hash.update(bytes)
    if let size = part.spec.sizeBytes, hash.byteCount > size {
      throw DownloadFailure(.wrongSize, "decodes to more than the \(size) bytes it should have")
    }
    if part.spec.sizeBytes == nil,
      hash.byteCount > max(Self.alwaysDecodedBytes, position * Self.mostGrowth)
    {
      throw DownloadFailure(
        .encoding,
        "decodes to more than \(Self.mostGrowth) times what came, \(hash.byteCount) bytes so far;"
          + " give its `size` where that is right")
    }
    do throws(Errno) {
      try file.descriptor.writeAll(bytes)
    } catch {
      throw LocalFailure.of("cannot write \(path)", error)
    }
  }

  func finished(mode: UInt32) -> FinishedFile {
    FinishedFile(
      file, path: path, sizeBytes: hash.byteCount, target: part.spec.target, mode: mode)
  }

  func remove() { Place.remove(path, ifIs: file.identity) }
}
