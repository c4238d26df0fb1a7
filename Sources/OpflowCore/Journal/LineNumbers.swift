/// Reads the two numbers that a line begins with, each with a tab behind it. Those of the line before mostly tell what
/// they are, a SEQ one higher and a time of the same hundred seconds, and to compare that takes less than to read it.
struct LineNumbers {
  /// The SEQ of the line behind the last that was read, and its text with the tab, in the bytes of the mask; where
  /// nothing is expected, what stands in none.
  private var sequence: UInt64 = 0
  private var (text, mask) = Self.nothing
  private var length = 0
  /// The first eight digits of a time, and the milliseconds that they stand for: to begin with, zeros.
  private var timeText: UInt64 = 0x3030_3030_3030_3030
  private var timeStart: UInt64 = 0

  private static let nothing: (text: UInt64, mask: UInt64) = (1, 0)

  /// The number of at most 19 digits at `start`, and the place behind its tab.
  @inline(__always)
  mutating func readSequence(_ bytes: ByteWindow, _ start: Int) -> (UInt64, Int)? {
    let eight = bytes.eight(at: start)
    if eight.bits & mask == text {
      let found = (sequence, start &+ length)
      expect(sequence &+ 1, eight, length &- 1)
      return found
    }
    return readOther(bytes, start)
  }

  @inline(never)
  private mutating func readOther(_ bytes: ByteWindow, _ start: Int) -> (UInt64, Int)? {
    let found = Self.number(bytes, start)
    let eight = bytes.eight(at: start)
    let count = eight.digitCount
    if let found, count < 8 {
      expect(found.0 &+ 1, eight, count)
    } else {
      (text, mask) = Self.nothing
    }
    return found
  }

  /// - Parameter count: the digits of the number before it, from one to seven, which the eight bytes begin with.
  @inline(__always)
  private mutating func expect(_ next: UInt64, _ eight: EightBytes, _ count: Int) {
    sequence = next
    length = count &+ 1
    let last = UInt64(count &- 1) &* 8
    mask = .max &>> (48 &- last)
    text = (eight.bits & mask) &+ 1 &<< last
    // A digit more stands at another place, so that the next one is read as any other.
    if eight[count &- 1] == UInt8(ascii: "9") { (text, mask) = Self.nothing }
  }

  /// The same, mostly of thirteen digits, as milliseconds since the epoch have from 2001 to 2286.
  @inline(__always)
  mutating func readTime(_ bytes: ByteWindow, _ start: Int) -> (UInt64, Int)? {
    let first = bytes.eight(at: start)
    if first.bits != timeText {
      guard first.have(shape: "00000000") else { return Self.number(bytes, start) }
      timeText = first.bits
      timeStart = first.decimal(8) &* 100_000
    }
    let rest = bytes.eight(at: start &+ 8)
    guard rest.have(shape: "00000\t") else { return Self.number(bytes, start) }
    return (timeStart &+ rest.decimal(5), start &+ 14)
  }

  @inline(never)
  private static func number(_ bytes: ByteWindow, _ start: Int) -> (UInt64, Int)? {
    var value: UInt64 = 0
    var position = start
    while position < bytes.count {
      let byte = bytes[position]
      if byte == Field.tab {
        let count = position &- start
        return count > 0 && count < 20 ? (value, position &+ 1) : nil
      }
      guard byte >= 48, byte <= 57 else { return nil }
      value = value &* 10 &+ UInt64(byte &- 48)
      position &+= 1
    }
    return nil
  }
}
