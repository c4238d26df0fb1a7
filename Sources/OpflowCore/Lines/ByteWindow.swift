/// Bytes of lines where they lie, for readers that look at a line as part of what surrounds it: eight
/// bytes at a time, also where the line ends before them.
///
/// SAFETY: valid as long as the bytes that it was made over; every look is within them.
struct ByteWindow {
  private let base: UnsafeRawPointer
  let count: Int

  /// Nil over no bytes at all.
  @inline(__always)
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return nil }
    self.base = base
    count = bytes.count
  }

  @inline(__always)
  private var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// The byte at `position`, which is in the window.
  @inline(__always)
  subscript(position: Int) -> UInt8 {
    assert(position >= 0 && position < count)
    return base.load(fromByteOffset: position, as: UInt8.self)
  }

  /// The eight bytes from `position` on, which is at most `count`; behind the end stand zeros.
  @inline(__always)
  func eight(at position: Int) -> EightBytes {
    if position <= count &- 8 {
      return EightBytes(
        UInt64(littleEndian: base.loadUnaligned(fromByteOffset: position, as: UInt64.self)))
    }
    return eightAtEnd(position)
  }

  @inline(never)
  private func eightAtEnd(_ position: Int) -> EightBytes { bytes.eight(at: position) }

  /// Where `byte`, which is not zero, first stands at or behind `start`; `end` where it does not stand
  /// before that.
  @inline(__always)
  func position(of byte: UInt8, from start: Int, to end: Int) -> Int {
    bytes.position(of: byte, from: start, to: end)
  }

  /// The number of at most fifteen digits that begins at `start`, and where it ends, which is at `start` where there is
  /// none; nil for a longer one.
  @inline(__always)
  func natural(at start: Int) -> (value: Int64, end: Int)? {
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

  /// The bytes from `start` up to `end`, which are in the window.
  @inline(__always)
  func part(_ start: Int, _ end: Int) -> UnsafeRawBufferPointer {
    assert(start >= 0 && start <= end && end <= count)
    return UnsafeRawBufferPointer(start: base + start, count: end &- start)
  }

  /// The number that the lower-case hexadecimal digits from `start` on make, one to sixteen of them;
  /// nil where another byte stands.
  @inline(__always)
  func hexadecimal(_ start: Int, digitCount count: Int) -> UInt64? {
    if count <= 8 { return eight(at: start).hexadecimal(count).map { UInt64($0) } }
    guard let high = eight(at: start).hexadecimal(8),
      let low = eight(at: start &+ 8).hexadecimal(count &- 8)
    else { return nil }
    return UInt64(high) &<< UInt64((count &- 8) &* 4) | UInt64(low)
  }
}
