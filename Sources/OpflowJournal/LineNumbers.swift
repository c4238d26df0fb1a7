internal import OpflowBase

/// Reads SEQ and time of a line. Comparing with SEQ + 1 and the last hundred seconds is faster than
/// parsing.
struct LineNumbers {
  /// The expected SEQ, and its digits and tab within `mask`; if none is expected, `text` never
  /// matches.
  private var sequence: UInt64 = 0
  private var (text, mask) = Self.nothing
  private var length = 0
  /// The first eight digits of the last time, and their milliseconds.
  private var timeText: UInt64 = 0x3030_3030_3030_3030
  private var timeStart: UInt64 = 0

  private static let nothing: (text: UInt64, mask: UInt64) = (1, 0)

  /// At most 19 digits; with the position after its tab.
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

  /// - Parameter count: the digits in `eight`, one to seven.
  @inline(__always)
  private mutating func expect(_ next: UInt64, _ eight: EightBytes, _ count: Int) {
    sequence = next
    length = count &+ 1
    let last = UInt64(count &- 1) &* 8
    mask = .max &>> (48 &- last)
    text = (eight.bits & mask) &+ 1 &<< last
    // 9 carries; the next SEQ is parsed.
    if eight[count &- 1] == UInt8(ascii: "9") { (text, mask) = Self.nothing }
  }

  /// Fast for 13 digits: milliseconds from 2001 to 2286.
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
