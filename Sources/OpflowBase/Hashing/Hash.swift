internal import CHash

/// XXH3 for plans, fingerprints and names; unlike Swift's `Hasher` equal everywhere.
package enum Hash {
  package static func xxh3(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    // SAFETY: reads `count` bytes from a buffer that the caller holds for the call.
    chash_xxh3_64(bytes.baseAddress, bytes.count)
  }

  package static func xxh3(_ bytes: [UInt8]) -> UInt64 {
    bytes.withUnsafeBytes { xxh3($0) }
  }

  /// The order matters.
  package static func combine(_ first: UInt64, _ second: UInt64) -> UInt64 {
    withUnsafeBytes(of: (first.littleEndian, second.littleEndian)) { xxh3($0) }
  }

  package static func areEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    // SAFETY: compares `count` bytes of buffers that the caller holds for the call.
    a.count == b.count && chash_equal(a.baseAddress, b.baseAddress, a.count) != 0
  }

  package static func planKey(_ bytes: [UInt8]) -> PlanKey {
    bytes.withUnsafeBytes { planKey($0) }
  }

  package static func planKey(_ bytes: UnsafeRawBufferPointer) -> PlanKey {
    var high: UInt64 = 0
    let low = chash_xxh3_128(bytes.baseAddress, bytes.count, &high)
    return PlanKey(high: high, low: low)
  }

  package static func crc32c(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    // SAFETY: as above.
    chash_crc32c(0, bytes.baseAddress, bytes.count)
  }

  /// The first line without its line feed; all bytes if there is none.
  @inline(__always)
  package static func crc32cOfLine(
    _ bytes: UnsafeRawBufferPointer
  ) -> (length: Int, checksum: UInt32) {
    // SAFETY: as above.
    let line = chash_crc32c_line(bytes.baseAddress, bytes.count)
    return (line.length, line.checksum)
  }
}

package struct PieceHash: ~Copyable {
  private let pieces: OpaquePointer

  /// Nil if memory is exhausted.
  package init?() {
    guard let pieces = chash_pieces_begin() else { return nil }
    self.pieces = pieces
  }

  package borrowing func add(_ bytes: UnsafeRawBufferPointer) {
    // SAFETY: reads `count` bytes from a buffer that the caller holds for the call.
    chash_pieces_add(pieces, bytes.baseAddress, bytes.count)
  }

  package var planKey: PlanKey {
    var high: UInt64 = 0
    let low = chash_pieces_result(pieces, &high)
    return PlanKey(high: high, low: low)
  }

  deinit { chash_pieces_end(pieces) }
}
