extension UnsafeRawBufferPointer {
  /// Where `byte` first stands at or behind `start`; `count` where it does not.
  ///
  /// Eight bytes at a time: a byte of `word ^ pattern` is zero where the byte stands, and the lowest
  /// such byte is the only one whose high bit the subtraction is sure to set.
  @inline(__always)
  func position(of byte: UInt8, from start: Int) -> Int {
    let pattern = UInt64(byte) &* 0x0101_0101_0101_0101
    var position = start
    while position &+ 8 <= count {
      let word = UInt64(littleEndian: loadUnaligned(fromByteOffset: position, as: UInt64.self))
      let difference = word ^ pattern
      let hits = (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
      if hits != 0 { return position &+ hits.trailingZeroBitCount / 8 }
      position &+= 8
    }
    while position < count, self[position] != byte { position &+= 1 }
    return position
  }

  /// The bytes from `start` up to `end`.
  @inline(__always)
  func part(_ start: Int, _ end: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[start..<end])
  }

  @inline(__always)
  func equals(_ text: StaticString) -> Bool {
    guard count == text.utf8CodeUnitCount else { return false }
    return text.withUTF8Buffer { text in
      for position in 0..<count where self[position] != text[position] { return false }
      return true
    }
  }
}
