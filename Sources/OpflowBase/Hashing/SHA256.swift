internal import CHash

/// Incremental SHA-256 (FIPS 180-4).
package struct SHA256: ~Copyable {
  private let state: UnsafeMutableRawPointer

  package init() {
    // SAFETY: allocates the size that CHash reports; freed in deinit only.
    state = .allocate(
      byteCount: chash_sha256_size(), alignment: MemoryLayout<UInt64>.alignment)
    chash_sha256_begin(state)
  }

  package borrowing func add(_ bytes: UnsafeRawBufferPointer) {
    // SAFETY: reads `count` bytes from a buffer that the caller holds for the call.
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

    /// Parses 64 digits.
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
