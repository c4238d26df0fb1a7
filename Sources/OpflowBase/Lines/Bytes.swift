internal import CHash

extension UnsafeRawBufferPointer {
  /// `byte` must not be zero. Returns `count` without a hit.
  @inlinable @inline(__always)
  public func position(of byte: UInt8, from start: Int) -> Int {
    position(of: byte, from: start, to: count)
  }

  /// `byte` must not be zero. Returns `end` without a hit.
  @inlinable @inline(__always)
  public func position(of byte: UInt8, from start: Int, to end: Int) -> Int {
    var position = start
    while position < end {
      let place = eight(at: position).position(of: byte)
      if place < 8 { return Swift.min(position &+ place, end) }
      position &+= 8
    }
    return end
  }

  @inlinable @inline(__always)
  public func part(_ start: Int, _ end: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[start..<end])
  }

  @inlinable @inline(__always)
  public func equals(_ other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    if count < 8 { return equalsShort(other) }
    var position = 0
    while position &+ 8 < count {
      if !hasSame(at: position, as: UInt64.self, in: other) { return false }
      position &+= 8
    }
    return hasSame(at: count &- 8, as: UInt64.self, in: other)
  }

  @inlinable @inline(__always)
  func equalsShort(_ other: UnsafeRawBufferPointer) -> Bool {
    if count >= 4 {
      return hasSame(at: 0, as: UInt32.self, in: other)
        && hasSame(at: count &- 4, as: UInt32.self, in: other)
    }
    for position in 0..<count where self[position] != other[position] { return false }
    return true
  }

  @inlinable @inline(__always)
  func hasSame<Word: FixedWidthInteger & BitwiseCopyable>(
    at position: Int, as type: Word.Type, in other: UnsafeRawBufferPointer
  ) -> Bool {
    loadUnaligned(fromByteOffset: position, as: type)
      == other.loadUnaligned(fromByteOffset: position, as: type)
  }

  @inlinable @inline(__always)
  public func equals(_ text: StaticString) -> Bool {
    guard count == text.utf8CodeUnitCount else { return false }
    return text.withUTF8Buffer { text in
      for position in 0..<count where self[position] != text[position] { return false }
      return true
    }
  }
}

/// Allows a `switch` over words.
@inlinable @inline(__always)
public func ~= (word: StaticString, field: UnsafeRawBufferPointer) -> Bool { field.equals(word) }

package enum ByteOrder: Equatable, Sendable {
  case before
  case same
  case behind

  package init(_ bytes: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) {
    let order = chash_order(bytes.baseAddress, bytes.count, other.baseAddress, other.count)
    self = order < 0 ? .before : order == 0 ? .same : .behind
  }
}

/// Loads eight bytes at a time, also across the end of a line.
///
/// SAFETY: valid as long as the underlying bytes; every access stays within them.
public struct ByteWindow {
  @usableFromInline let base: UnsafeRawPointer
  public let count: Int

  /// nil without an address.
  @inlinable @inline(__always)
  public init?(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return nil }
    self.base = base
    count = bytes.count
  }

  @inlinable @inline(__always)
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  @inlinable @inline(__always)
  public subscript(position: Int) -> UInt8 {
    assert(position >= 0 && position < count)
    return base.load(fromByteOffset: position, as: UInt8.self)
  }

  /// The bytes from `position` (at most `count`), with zeros after the end.
  @inlinable @inline(__always)
  public func eight(at position: Int) -> EightBytes {
    if position <= count &- 8 {
      return EightBytes(
        UInt64(littleEndian: base.loadUnaligned(fromByteOffset: position, as: UInt64.self)))
    }
    return eightAtEnd(position)
  }

  @usableFromInline @inline(never)
  func eightAtEnd(_ position: Int) -> EightBytes { bytes.eight(at: position) }

  @inlinable @inline(__always)
  public func position(of byte: UInt8, from start: Int, to end: Int) -> Int {
    bytes.position(of: byte, from: start, to: end)
  }

  /// The number and its end, which is `start` without a digit; nil for more than 15 digits.
  @inlinable @inline(__always)
  public func natural(at start: Int) -> (value: Int64, end: Int)? {
    let first = eight(at: start)
    let count = first.digitCount
    if count < 8 { return (Int64(bitPattern: first.decimal(count)), start &+ count) }
    let rest = eight(at: start &+ 8)
    let more = rest.digitCount
    if more == 8 { return nil }
    var scale: UInt64 = 1
    for _ in 0..<more { scale &*= 10 }
    return (Int64(bitPattern: first.decimal(8) &* scale &+ rest.decimal(more)), start &+ 8 &+ more)
  }

  @inlinable @inline(__always)
  public func part(_ start: Int, _ end: Int) -> UnsafeRawBufferPointer {
    assert(start >= 0 && start <= end && end <= count)
    return UnsafeRawBufferPointer(start: base + start, count: end &- start)
  }

  @inlinable @inline(__always)
  public func hexadecimal(_ start: Int, digitCount count: Int) -> UInt64? {
    if count <= 8 { return eight(at: start).hexadecimal(count).map { UInt64($0) } }
    guard let high = eight(at: start).hexadecimal(8),
      let low = eight(at: start &+ 8).hexadecimal(count &- 8)
    else { return nil }
    return UInt64(high) &<< UInt64((count &- 8) &* 4) | UInt64(low)
  }
}

/// Eight bytes in one integer, the first one lowest, examined together without branches.
public struct EightBytes: Sendable {
  public let bits: UInt64

  @inlinable @inline(__always)
  public init(_ bits: UInt64) { self.bits = bits }

  @inlinable static var ones: UInt64 { 0x0101_0101_0101_0101 }
  @inlinable static var highBits: UInt64 { 0x8080_8080_8080_8080 }

  /// 8 without a hit. The subtraction is certain to set the high bit of the lowest match; higher
  /// bits may be wrong.
  @inlinable @inline(__always)
  public func position(of byte: UInt8) -> Int {
    let difference = bits ^ (UInt64(byte) &* Self.ones)
    let hits = (difference &- Self.ones) & ~difference & Self.highBits
    // Without a hit there are 64 trailing zeros.
    return hits.trailingZeroBitCount / 8
  }

  @inlinable @inline(__always)
  public subscript(place: Int) -> UInt8 { UInt8(truncatingIfNeeded: bits &>> UInt64(place &* 8)) }

  /// At most eight bytes in total.
  @inlinable @inline(__always)
  public func begins(with text: StaticString, _ last: UInt8) -> Bool {
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
  public func have(shape: StaticString) -> Bool {
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

  @inlinable @inline(__always)
  public var digitCount: Int {
    let values = bits ^ 0x3030_3030_3030_3030
    // A carry affects only later bytes.
    let others = ((values &+ 0x7676_7676_7676_7676) | values) & Self.highBits
    return others.trailingZeroBitCount / 8
  }

  /// The first `count` bytes must be digits.
  @inlinable @inline(__always)
  public func decimal(_ count: Int) -> UInt64 {
    if count == 0 { return 0 }
    // Shifts zeros in front, for eight digits in total.
    var value = (bits & 0x0F0F_0F0F_0F0F_0F0F) &<< UInt64(64 &- count &* 8)
    value = (value &* 10 &+ value >> 8) & 0x00FF_00FF_00FF_00FF
    value = (value &* 100 &+ value >> 16) & 0x0000_FFFF_0000_FFFF
    return (value &* 10_000 &+ value >> 32) & 0xFFFF_FFFF
  }

  /// The value of the trailing digits; 0 if the last byte is not a digit.
  @inlinable @inline(__always)
  public var decimalAtEnd: UInt64 {
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

  /// The value of 1 to 8 lower-case digits; nil for other bytes.
  @inlinable @inline(__always)
  public func hexadecimal(_ count: Int) -> UInt32? {
    if count == 8 { return Self.hexadecimal(bits) }
    let missing = UInt64(64 &- count &* 8)
    return Self.hexadecimal(bits &<< missing | 0x3030_3030_3030_3030 &>> UInt64(count &* 8))
  }

  @inlinable @inline(__always)
  public static func hexadecimal(of number: UInt32) -> EightBytes {
    var digits = UInt64(number.byteSwapped)
    digits = (digits | digits << 16) & 0x0000_FFFF_0000_FFFF
    digits = (digits | digits << 8) & 0x00FF_00FF_00FF_00FF
    digits = (digits >> 4 | digits << 8) & 0x0F0F_0F0F_0F0F_0F0F
    let letters = ((digits &+ 0x0606_0606_0606_0606) >> 4) & ones
    return EightBytes(digits &+ 0x3030_3030_3030_3030 &+ letters &* 39)
  }

  /// A letter is 0x60 plus its value minus 9, so bit 6 decides the high half and whether the value
  /// is above 9.
  @inlinable @inline(__always)
  static func hexadecimal(_ bytes: UInt64) -> UInt32? {
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
  @inlinable @inline(__always)
  public func eight(at position: Int) -> EightBytes {
    if position &+ 8 <= count {
      // SAFETY: the eight bytes lie within the buffer, as checked.
      return EightBytes(
        UInt64(littleEndian: loadUnaligned(fromByteOffset: position, as: UInt64.self)))
    }
    return eightAtEnd(position)
  }

  @usableFromInline @inline(never)
  func eightAtEnd(_ position: Int) -> EightBytes {
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
