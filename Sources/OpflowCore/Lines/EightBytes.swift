/// Eight bytes of a text, looked at together: the first is the lowest of `bits`.
///
/// What is asked of them is answered for all eight at once, without a branch for each: readers of
/// long files spend their time on nothing else.
struct EightBytes {
  let bits: UInt64

  @inline(__always)
  init(_ bits: UInt64) { self.bits = bits }

  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let highBits: UInt64 = 0x8080_8080_8080_8080

  /// Where `byte` first stands; 8 where it does not.
  ///
  /// A byte of the difference is zero where it stands, and the lowest such byte is the only one whose
  /// high bit the subtraction is sure to set.
  @inline(__always)
  func position(of byte: UInt8) -> Int {
    let difference = bits ^ (UInt64(byte) &* Self.ones)
    let hits = (difference &- Self.ones) & ~difference & Self.highBits
    // Of none, there are 64 zeros.
    return hits.trailingZeroBitCount / 8
  }

  /// The byte at a place from 0 to 7.
  @inline(__always)
  subscript(place: Int) -> UInt8 { UInt8(truncatingIfNeeded: bits &>> UInt64(place &* 8)) }

  /// Whether they begin with a text and a byte behind it, of at most eight bytes together.
  @inline(__always)
  func begins(with text: StaticString, _ last: UInt8) -> Bool {
    var wanted = UInt64(last) &<< UInt64(text.utf8CodeUnitCount &* 8)
    var mask: UInt64 = 0xFF &<< UInt64(text.utf8CodeUnitCount &* 8)
    text.withUTF8Buffer { text in
      for place in 0..<text.count {
        wanted |= UInt64(text[place]) &<< UInt64(place &* 8)
        mask |= 0xFF &<< UInt64(place &* 8)
      }
    }
    return bits & mask == wanted
  }

  /// Whether they begin with a text of at most eight bytes, in which `0` stands for any digit.
  @_transparent
  func have(shape: StaticString) -> Bool {
    var wanted: UInt64 = 0
    var mask: UInt64 = 0
    var digits: UInt64 = 0
    shape.withUTF8Buffer { shape in
      for place in 0..<shape.count {
        let isDigit = shape[place] == UInt8(ascii: "0")
        wanted |= UInt64(shape[place]) &<< UInt64(place &* 8)
        mask |= (isDigit ? 0xF0 : 0xFF) &<< UInt64(place &* 8)
        digits |= (isDigit ? 1 : 0) &<< UInt64(place &* 8)
      }
    }
    // A digit's low half and six are less than sixteen.
    return bits & mask == wanted
      && ((bits & (digits &* 15)) &+ digits &* 6) & (digits &* 16) == 0
  }

  // MARK: - Decimal

  /// How many decimal digits they begin with.
  @inline(__always)
  var digitCount: Int {
    let values = bits ^ 0x3030_3030_3030_3030
    // A value above nine reaches the high bit, and may carry only into the bytes behind it.
    let others = ((values &+ 0x7676_7676_7676_7676) | values) & Self.highBits
    return others.trailingZeroBitCount / 8
  }

  /// The number that the first `count` of them make, which are digits.
  @inline(__always)
  func decimal(_ count: Int) -> UInt64 {
    if count == 0 { return 0 }
    // Zeros in front, up to eight digits.
    var value = (bits & 0x0F0F_0F0F_0F0F_0F0F) &<< UInt64(64 &- count &* 8)
    value = (value &* 10 &+ value >> 8) & 0x00FF_00FF_00FF_00FF
    value = (value &* 100 &+ value >> 16) & 0x0000_FFFF_0000_FFFF
    return (value &* 10_000 &+ value >> 32) & 0xFFFF_FFFF
  }

  /// The number that they end with; 0 where the last of them is no digit.
  @inline(__always)
  var decimalAtEnd: UInt64 {
    let values = bits ^ 0x3030_3030_3030_3030
    // A value above nine may carry only into the bytes behind it, and of those the first that is none of a
    // digit's is found from the other end: so no sum is taken.
    let low = values & 0x0F0F_0F0F_0F0F_0F0F
    let others =
      (values & 0xF0F0_F0F0_F0F0_F0F0)
      | ((low &+ 0x0606_0606_0606_0606) & 0x1010_1010_1010_1010)
    let count = others.leadingZeroBitCount / 8
    return EightBytes(count == 0 ? 0 : bits &>> UInt64(64 &- count &* 8)).decimal(count)
  }

  // MARK: - Hexadecimal

  /// The number that the first `count` of them make, from one to eight; nil where they are no
  /// lower-case hexadecimal digits.
  @inline(__always)
  func hexadecimal(_ count: Int) -> UInt32? {
    if count == 8 { return Self.hexadecimal(bits) }
    let missing = UInt64(64 &- count &* 8)
    return Self.hexadecimal(bits &<< missing | 0x3030_3030_3030_3030 &>> UInt64(count &* 8))
  }

  /// The eight digits of a number, as a text has them.
  @inline(__always)
  static func hexadecimal(of number: UInt32) -> EightBytes {
    // A byte of the number in each two, the highest first; then a digit in each.
    var digits = UInt64(number.byteSwapped)
    digits = (digits | digits << 16) & 0x0000_FFFF_0000_FFFF
    digits = (digits | digits << 8) & 0x00FF_00FF_00FF_00FF
    digits = (digits >> 4 | digits << 8) & 0x0F0F_0F0F_0F0F_0F0F
    let letters = ((digits &+ 0x0606_0606_0606_0606) >> 4) & ones
    return EightBytes(digits &+ 0x3030_3030_3030_3030 &+ letters &* 39)
  }

  /// A digit's byte is 0x30 and its value, a letter's 0x60 and its value less nine. So bit 6 tells
  /// letters, the high half must be what belongs to that, and the value must be above nine for a
  /// letter and only for one.
  @inline(__always)
  private static func hexadecimal(_ bytes: UInt64) -> UInt32? {
    let letters = (bytes >> 6) & ones
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
}

extension UnsafeRawBufferPointer {
  /// The eight bytes from `position` on, which is at most `count`; behind the end stand zeros.
  @inline(__always)
  func eight(at position: Int) -> EightBytes {
    if position &+ 8 <= count {
      // SAFETY: the eight bytes lie within the buffer, as was just checked.
      return EightBytes(
        UInt64(littleEndian: loadUnaligned(fromByteOffset: position, as: UInt64.self)))
    }
    return eightAtEnd(position)
  }

  @inline(never)
  private func eightAtEnd(_ position: Int) -> EightBytes {
    if count >= 8 {
      let last = loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
      return EightBytes(UInt64(littleEndian: last) >> UInt64((position &+ 8 &- count) &* 8))
    }
    var bits: UInt64 = 0
    var place = count
    while place > position {
      place &-= 1
      bits = bits << 8 | UInt64(self[place])
    }
    return EightBytes(bits)
  }
}
