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

  /// The lower-case hexadecimal digits from `start` up to `end`, at most 16, as a number; nil where
  /// another byte stands. Without a branch for each digit, eight at a time.
  @inline(__always)
  func hexadecimal(_ start: Int, _ end: Int) -> UInt64? {
    var number: UInt64 = 0
    var isValid = true
    var first = start
    while first &+ 8 <= end {
      let eight = loadUnaligned(fromByteOffset: first, as: UInt64.self)
      guard let value = Self.hexadecimal(UInt64(littleEndian: eight)) else { return nil }
      number = number << 32 | UInt64(value)
      first &+= 8
    }
    for position in first..<end {
      let digit = self[position] &- 48
      let letter = self[position] &- 87
      let isLetter = letter >= 10 && letter < 16
      isValid = isValid && (digit < 10 || isLetter)
      number = number << 4 | UInt64((isLetter ? letter : digit) & 15)
    }
    return isValid ? number : nil
  }

  /// Eight digits, the first in the lowest byte.
  ///
  /// A digit's byte is 0x30 and its value, a letter's 0x60 and its value less nine. So bit 6 tells
  /// letters, the high half must be what belongs to that, and the value must be above nine for a
  /// letter and only for one.
  @inline(__always)
  private static func hexadecimal(_ bytes: UInt64) -> UInt32? {
    let letters = (bytes >> 6) & 0x0101_0101_0101_0101
    let values = (bytes & 0x0F0F_0F0F_0F0F_0F0F) &+ letters &* 9
    let highHalves = bytes & 0xF0F0_F0F0_F0F0_F0F0
    let isWrong =
      (highHalves ^ (0x3030_3030_3030_3030 &+ letters &* 0x30))
      | (values & 0xF0F0_F0F0_F0F0_F0F0)
      | (((values &+ 0x0606_0606_0606_0606) & 0x1010_1010_1010_1010) ^ letters << 4)
    if isWrong != 0 { return nil }
    var packed = (values << 4 | values >> 8) & 0x00FF_00FF_00FF_00FF
    packed = (packed | packed >> 8) & 0x0000_FFFF_0000_FFFF
    return UInt32(truncatingIfNeeded: packed | packed >> 16).byteSwapped
  }

  /// The value of eight decimal digits; nil where one of the bytes is none.
  @inline(__always)
  func eightDigits(at position: Int) -> UInt64? {
    guard position &+ 8 <= count else { return nil }
    let bytes = UInt64(littleEndian: loadUnaligned(fromByteOffset: position, as: UInt64.self))
    let isWrong =
      ((bytes & 0xF0F0_F0F0_F0F0_F0F0) ^ 0x3030_3030_3030_3030)
      | (((bytes &+ 0x0606_0606_0606_0606) & 0xF0F0_F0F0_F0F0_F0F0) ^ 0x3030_3030_3030_3030)
    if isWrong != 0 { return nil }
    var value = bytes & 0x0F0F_0F0F_0F0F_0F0F
    value = (value &* 10 &+ value >> 8) & 0x00FF_00FF_00FF_00FF
    value = (value &* 100 &+ value >> 16) & 0x0000_FFFF_0000_FFFF
    return (value &* 10_000 &+ value >> 32) & 0xFFFF_FFFF
  }

  /// Whether the bytes are the same, eight at a time.
  @inline(__always)
  func equals(_ other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    var position = 0
    while position &+ 8 <= count {
      if loadUnaligned(fromByteOffset: position, as: UInt64.self)
        != other.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      {
        return false
      }
      position &+= 8
    }
    while position < count {
      if self[position] != other[position] { return false }
      position &+= 1
    }
    return true
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
