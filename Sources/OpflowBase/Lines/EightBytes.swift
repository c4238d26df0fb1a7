/// Eight bytes in one integer, the first one lowest, examined together without branches.
package struct EightBytes {
  package let bits: UInt64

  @inline(__always)
  package init(_ bits: UInt64) { self.bits = bits }

  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let highBits: UInt64 = 0x8080_8080_8080_8080

  /// The first position of `byte`; 8 if there is none.
  ///
  /// The subtraction sets the high bit of the lowest match for sure; higher bits may be wrong.
  @inline(__always)
  package func position(of byte: UInt8) -> Int {
    let difference = bits ^ (UInt64(byte) &* Self.ones)
    let hits = (difference &- Self.ones) & ~difference & Self.highBits
    // Without a hit there are 64 trailing zeros.
    return hits.trailingZeroBitCount / 8
  }

  @inline(__always)
  package subscript(place: Int) -> UInt8 { UInt8(truncatingIfNeeded: bits &>> UInt64(place &* 8)) }

  /// At most eight bytes in total.
  @inline(__always)
  package func begins(with text: StaticString, _ last: UInt8) -> Bool {
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

  /// In `shape` of at most eight bytes, `0` matches any digit.
  @_transparent
  package func have(shape: StaticString) -> Bool {
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
    // The low half of a digit plus 6 is below 16.
    return bits & mask == wanted
      && ((bits & (digits &* 15)) &+ digits &* 6) & (digits &* 16) == 0
  }

  // MARK: - Decimal

  @inline(__always)
  package var digitCount: Int {
    let values = bits ^ 0x3030_3030_3030_3030
    // A carry affects only later bytes.
    let others = ((values &+ 0x7676_7676_7676_7676) | values) & Self.highBits
    return others.trailingZeroBitCount / 8
  }

  /// The first `count` bytes must be digits.
  @inline(__always)
  package func decimal(_ count: Int) -> UInt64 {
    if count == 0 { return 0 }
    // Shifts zeros in front, for eight digits in total.
    var value = (bits & 0x0F0F_0F0F_0F0F_0F0F) &<< UInt64(64 &- count &* 8)
    value = (value &* 10 &+ value >> 8) & 0x00FF_00FF_00FF_00FF
    value = (value &* 100 &+ value >> 16) & 0x0000_FFFF_0000_FFFF
    return (value &* 10_000 &+ value >> 32) & 0xFFFF_FFFF
  }

  /// The value of the trailing digits; 0 if the last byte is not a digit.
  @inline(__always)
  package var decimalAtEnd: UInt64 {
    let values = bits ^ 0x3030_3030_3030_3030
    // A carry would give wrong results from this end, so the halves of each byte are tested.
    let low = values & 0x0F0F_0F0F_0F0F_0F0F
    let others =
      (values & 0xF0F0_F0F0_F0F0_F0F0)
      | ((low &+ 0x0606_0606_0606_0606) & 0x1010_1010_1010_1010)
    let count = others.leadingZeroBitCount / 8
    return EightBytes(count == 0 ? 0 : bits &>> UInt64(64 &- count &* 8)).decimal(count)
  }

  // MARK: - Hexadecimal

  /// The value of the first `count` (1 to 8) lower-case digits; nil for other bytes.
  @inline(__always)
  package func hexadecimal(_ count: Int) -> UInt32? {
    if count == 8 { return Self.hexadecimal(bits) }
    let missing = UInt64(64 &- count &* 8)
    return Self.hexadecimal(bits &<< missing | 0x3030_3030_3030_3030 &>> UInt64(count &* 8))
  }

  @inline(__always)
  package static func hexadecimal(of number: UInt32) -> EightBytes {
    var digits = UInt64(number.byteSwapped)
    digits = (digits | digits << 16) & 0x0000_FFFF_0000_FFFF
    digits = (digits | digits << 8) & 0x00FF_00FF_00FF_00FF
    digits = (digits >> 4 | digits << 8) & 0x0F0F_0F0F_0F0F_0F0F
    let letters = ((digits &+ 0x0606_0606_0606_0606) >> 4) & ones
    return EightBytes(digits &+ 0x3030_3030_3030_3030 &+ letters &* 39)
  }

  /// A letter is 0x60 plus its value minus 9, so bit 6 decides the high half and whether the value
  /// is above 9.
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
  @inline(__always)
  package func eight(at position: Int) -> EightBytes {
    if position &+ 8 <= count {
      // SAFETY: the eight bytes lie within the buffer, as checked.
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
