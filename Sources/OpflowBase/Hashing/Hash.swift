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

  /// The first line without its line feed, or all bytes.
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

  /// nil if memory is exhausted.
  package init?() {
    guard let pieces = chash_pieces_begin() else { return nil }
    self.pieces = pieces
  }

  package borrowing func add(_ bytes: UnsafeRawBufferPointer) {
    // SAFETY: as in `Hash.xxh3`.
    chash_pieces_add(pieces, bytes.baseAddress, bytes.count)
  }

  package var planKey: PlanKey {
    var high: UInt64 = 0
    let low = chash_pieces_result(pieces, &high)
    return PlanKey(high: high, low: low)
  }

  deinit { chash_pieces_end(pieces) }
}

/// Incremental SHA-256 (FIPS 180-4).
package struct SHA256: ~Copyable {
  private let state: UnsafeMutableRawPointer

  package init() {
    // SAFETY: allocates the size that CHash reports; freed in deinit only.
    state = .allocate(byteCount: chash_sha256_size(), alignment: MemoryLayout<UInt64>.alignment)
    chash_sha256_begin(state)
  }

  package borrowing func add(_ bytes: UnsafeRawBufferPointer) {
    // SAFETY: as in `Hash.xxh3`.
    chash_sha256_add(state, bytes.baseAddress, bytes.count)
  }

  package var digest: Digest {
    var bytes = [UInt8](repeating: 0, count: 32)
    // SAFETY: writes 32 bytes.
    bytes.withUnsafeMutableBufferPointer { chash_sha256_result(state, $0.baseAddress) }
    func word(_ place: Int) -> UInt64 {
      bytes[(place * 8)..<(place * 8 + 8)].reduce(0) { $0 << 8 | UInt64($1) }
    }
    return Digest(
      high: PlanKey(high: word(0), low: word(1)), low: PlanKey(high: word(2), low: word(3)))
  }

  deinit { state.deallocate() }

  package static func digest(of bytes: some Sequence<UInt8>) -> Digest {
    let hash = SHA256()
    Array(bytes).withUnsafeBytes { hash.add($0) }
    return hash.digest
  }

  package struct Digest: Hashable, Sendable, CustomStringConvertible {
    /// Used alone where 128 bits suffice.
    package var high: PlanKey
    package var low: PlanKey

    package init(high: PlanKey, low: PlanKey) {
      self.high = high
      self.low = low
    }

    package init?(_ digits: UnsafeRawBufferPointer) {
      guard digits.count == 64, let a = Hexadecimal.value(digits.part(0, 16)),
        let b = Hexadecimal.value(digits.part(16, 32)),
        let c = Hexadecimal.value(digits.part(32, 48)),
        let d = Hexadecimal.value(digits.part(48, 64))
      else { return nil }
      high = PlanKey(high: a, low: b)
      low = PlanKey(high: c, low: d)
    }

    package var description: String { high.description + low.description }

    package var bytes: [UInt8] {
      [high.high, high.low, low.high, low.low].flatMap { word in
        withUnsafeBytes(of: word.bigEndian) { Array($0) }
      }
    }
  }
}

/// Identifies everything that a plan was compiled from.
package struct PlanKey: Hashable, Sendable, CustomStringConvertible {
  package var high: UInt64
  package var low: UInt64
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }
  package var description: String { Hexadecimal.text(high) + Hexadecimal.text(low) }
}

/// A generator with a known sequence, to replay a simulation from its seed (Steele, Lea and Flood,
/// "Fast splittable pseudorandom number generators", 2014).
package struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64
  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
