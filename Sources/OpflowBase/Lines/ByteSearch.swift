extension UnsafeRawBufferPointer {
  /// The first position of `byte` (not zero); `count` if there is none.
  @inline(__always)
  package func position(of byte: UInt8, from start: Int) -> Int {
    position(of: byte, from: start, to: count)
  }

  /// The first position of `byte` (not zero); `end` if there is none before it.
  @inline(__always)
  package func position(of byte: UInt8, from start: Int, to end: Int) -> Int {
    var position = start
    while position < end {
      let place = eight(at: position).position(of: byte)
      if place < 8 { return Swift.min(position &+ place, end) }
      position &+= 8
    }
    return end
  }

  @inlinable @inline(__always)
  package func part(_ start: Int, _ end: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[start..<end])
  }

  @inline(__always)
  package func equals(_ other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    if count < 8 { return equalsShort(other) }
    var position = 0
    while position &+ 8 < count {
      if !hasSame(at: position, as: UInt64.self, in: other) { return false }
      position &+= 8
    }
    return hasSame(at: count &- 8, as: UInt64.self, in: other)
  }

  @inline(__always)
  private func equalsShort(_ other: UnsafeRawBufferPointer) -> Bool {
    if count >= 4 {
      return hasSame(at: 0, as: UInt32.self, in: other)
        && hasSame(at: count &- 4, as: UInt32.self, in: other)
    }
    for position in 0..<count where self[position] != other[position] { return false }
    return true
  }

  @inline(__always)
  private func hasSame<Word: FixedWidthInteger & BitwiseCopyable>(
    at position: Int, as type: Word.Type, in other: UnsafeRawBufferPointer
  ) -> Bool {
    loadUnaligned(fromByteOffset: position, as: type)
      == other.loadUnaligned(fromByteOffset: position, as: type)
  }

  @inline(__always)
  package func equals(_ text: StaticString) -> Bool {
    guard count == text.utf8CodeUnitCount else { return false }
    return text.withUTF8Buffer { text in
      for position in 0..<count where self[position] != text[position] { return false }
      return true
    }
  }
}
