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
  /// another byte stands. Without a branch for each digit.
  @inline(__always)
  func hexadecimal(_ start: Int, _ end: Int) -> UInt64? {
    var number: UInt64 = 0
    var isValid = true
    for position in start..<end {
      let digit = self[position] &- 48
      let letter = self[position] &- 87
      let isLetter = letter >= 10 && letter < 16
      isValid = isValid && (digit < 10 || isLetter)
      number = number << 4 | UInt64((isLetter ? letter : digit) & 15)
    }
    return isValid ? number : nil
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
