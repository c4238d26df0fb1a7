/// A buffer for one line on hot paths. A write beyond its capacity traps.
package typealias LineSpan = OutputSpan<UInt8>

extension OutputSpan<UInt8> {
  @inline(__always)
  package mutating func appendText(_ text: StaticString) {
    text.withUTF8Buffer { appendBytes(UnsafeRawBufferPointer($0)) }
  }

  @_transparent
  package mutating func begin(_ key: Key) {
    append(Field.tab)
    appendText(key.name)
    append(UInt8(ascii: "="))
  }

  @_transparent
  package mutating func append(_ key: Key, _ value: some FixedWidthInteger) {
    begin(key)
    appendNumber(value)
  }

  @_transparent
  package mutating func appendUnlessZero(_ key: Key, _ value: some FixedWidthInteger) {
    if value != 0 { append(key, value) }
  }

  @inline(__always)
  package mutating func appendBytes(_ source: UnsafeRawBufferPointer) {
    withUnsafeMutableBufferPointer { room, used in
      precondition(source.count <= room.count - used, "line is longer than its room")
      guard let start = room.baseAddress, let from = source.baseAddress else { return }
      // SAFETY: `source.count` bytes fit behind the used ones, as checked.
      UnsafeMutableRawPointer(start + used).copyMemory(from: from, byteCount: source.count)
      used += source.count
    }
  }

  @inline(__always)
  package mutating func appendEscaped(_ source: UnsafeRawBufferPointer) {
    if Field.mayNeedEscape(source) {
      appendEscapedSlowly(source)
    } else {
      appendBytes(source)
    }
  }

  private mutating func appendEscapedSlowly(_ source: UnsafeRawBufferPointer) {
    for byte in source {
      if let letter = Field.escapeLetter(byte) {
        append(Field.backslash)
        append(letter)
      } else {
        append(byte)
      }
    }
  }

  @inline(__always)
  package mutating func appendNumber(_ value: some FixedWidthInteger) {
    if value < 0 { append(45) }
    appendDigits(UInt64(value.magnitude))
  }

  private mutating func appendDigits(_ value: UInt64) {
    if value < 10 {
      append(48 + UInt8(truncatingIfNeeded: value))
      return
    }
    let count = Self.digitCount(value)
    withUnsafeMutableBufferPointer { room, used in
      precondition(count <= room.count - used, "line is longer than its room")
      guard let start = room.baseAddress else { return }
      // SAFETY: writes `count` bytes behind the used ones, as checked.
      var cursor = start + used + count
      var rest = value
      while rest >= 100 {
        let pair = UInt32(truncatingIfNeeded: rest % 100)
        rest /= 100
        cursor -= 2
        cursor[0] = 48 + UInt8(truncatingIfNeeded: pair / 10)
        cursor[1] = 48 + UInt8(truncatingIfNeeded: pair % 10)
      }
      if rest >= 10 {
        cursor -= 1
        cursor.pointee = 48 + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      }
      (cursor - 1).pointee = 48 + UInt8(truncatingIfNeeded: rest)
      used += count
    }
  }

  private static func digitCount(_ value: UInt64) -> Int {
    var count = 1
    var rest = value
    while rest >= 10_000 {
      rest /= 10_000
      count += 4
    }
    if rest >= 1000 { return count + 3 }
    if rest >= 100 { return count + 2 }
    return rest >= 10 ? count + 1 : count
  }

  /// Appends the lowest `digitCount` digits in lower case.
  @inline(__always)
  package mutating func appendHexadecimal(_ value: UInt64, digitCount: Int) {
    var shift = UInt64(digitCount * 4)
    while shift > 0 {
      shift -= 4
      let nibble = UInt8(truncatingIfNeeded: value >> shift) & 15
      append(nibble < 10 ? 48 + nibble : 87 + nibble)
    }
  }
}

extension Field {
  /// Never misses a byte that needs an escape.
  @inline(__always)
  package static func mayNeedEscape(_ bytes: UnsafeRawBufferPointer) -> Bool {
    // No early exit, so that the compiler can vectorize the loop.
    var special: UInt8 = 0
    for byte in bytes { special |= (byte < 14 || byte == backslash) ? 1 : 0 }
    return special != 0
  }
}
