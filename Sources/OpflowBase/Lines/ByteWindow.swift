/// The bytes around a line, for loading eight at a time across its end.
///
/// SAFETY: valid as long as the underlying bytes; every access stays within them.
package struct ByteWindow {
  private let base: UnsafeRawPointer
  package let count: Int

  /// Nil for an empty buffer without an address.
  @inline(__always)
  package init?(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return nil }
    self.base = base
    count = bytes.count
  }

  @inline(__always)
  private var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  @inline(__always)
  package subscript(position: Int) -> UInt8 {
    assert(position >= 0 && position < count)
    return base.load(fromByteOffset: position, as: UInt8.self)
  }

  /// The eight bytes from `position` (at most `count`), with zeros after the end.
  @inline(__always)
  package func eight(at position: Int) -> EightBytes {
    if position <= count &- 8 {
      return EightBytes(
        UInt64(littleEndian: base.loadUnaligned(fromByteOffset: position, as: UInt64.self)))
    }
    return eightAtEnd(position)
  }

  @inline(never)
  private func eightAtEnd(_ position: Int) -> EightBytes { bytes.eight(at: position) }

  @inline(__always)
  package func position(of byte: UInt8, from start: Int, to end: Int) -> Int {
    bytes.position(of: byte, from: start, to: end)
  }

  /// The number and its end, which is `start` without a digit; nil for more than 15 digits.
  @inline(__always)
  package func natural(at start: Int) -> (value: Int64, end: Int)? {
    let first = eight(at: start)
    let count = first.digitCount
    if count < 8 { return (Int64(bitPattern: first.decimal(count)), start &+ count) }
    let rest = eight(at: start &+ 8)
    let more = rest.digitCount
    if more == 8 { return nil }
    var scale: UInt64 = 1
    for _ in 0..<more { scale &*= 10 }
    return (
      Int64(bitPattern: first.decimal(8) &* scale &+ rest.decimal(more)), start &+ 8 &+ more
    )
  }

  @inline(__always)
  package func part(_ start: Int, _ end: Int) -> UnsafeRawBufferPointer {
    assert(start >= 0 && start <= end && end <= count)
    return UnsafeRawBufferPointer(start: base + start, count: end &- start)
  }

  @inline(__always)
  package func hexadecimal(_ start: Int, digitCount count: Int) -> UInt64? {
    if count <= 8 { return eight(at: start).hexadecimal(count).map { UInt64($0) } }
    guard let high = eight(at: start).hexadecimal(8),
      let low = eight(at: start &+ 8).hexadecimal(count &- 8)
    else { return nil }
    return UInt64(high) &<< UInt64((count &- 8) &* 4) | UInt64(low)
  }
}
