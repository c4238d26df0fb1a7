/// The numbers that the next line of a journal most likely begins with, as the text that they are:
/// the SEQ after the last one, and the TIME of the last line.
///
/// A guess only saves time: the text that it stands for is compared.
struct ExpectedNumbers {
  private var sequence: UInt64 = 0
  /// Its digits and a tab, where those are at most eight bytes, and what of eight bytes they are. Else
  /// a text that the mask never lets through.
  private var sequenceText: UInt64 = 1
  private var sequenceMask: UInt64 = 0
  private var sequenceWidth = 0
  private var time: UInt64 = 0
  /// Thirteen digits and a tab, as milliseconds have from 2001 to 2286; before the first one a text
  /// that `timeMask` never lets through.
  private var timeText: (UInt64, UInt64) = (0, .max)

  private static let timeWidth = 14
  /// Of the last six bytes of a time.
  private static let timeMask: UInt64 = 0xFFFF_FFFF_FFFF

  /// SEQ and TIME of the line whose SEQ stands at `start`, and the place behind their tabs; nil where
  /// one of them is no number.
  @inline(__always)
  mutating func read(
    _ bytes: ByteWindow, at start: Int
  ) -> (sequence: UInt64, milliseconds: UInt64, end: Int)? {
    let number: UInt64
    let timeStart: Int
    if bytes.eight(at: start).bits & sequenceMask == sequenceText {
      number = sequence
      timeStart = start &+ sequenceWidth
      countOn()
    } else {
      guard let read = JournalLine.number(bytes, start) else { return nil }
      (number, timeStart) = read
      expect(number &+ 1)
    }
    let text = (
      bytes.eight(at: timeStart).bits,
      // Another number may end before these bytes do.
      bytes.eight(at: min(timeStart &+ 8, bytes.count)).bits & Self.timeMask
    )
    if text == timeText { return (number, time, timeStart &+ Self.timeWidth) }
    guard let (milliseconds, end) = JournalLine.number(bytes, timeStart) else { return nil }
    if end &- timeStart == Self.timeWidth {
      timeText = text
      time = milliseconds
    }
    return (number, milliseconds, end)
  }

  /// One more: nines at the end become zeros, and the digit before them one more.
  @inline(__always)
  private mutating func countOn() {
    sequence &+= 1
    var place = sequenceWidth &- 2
    while place >= 0 {
      let shift = UInt64(place &* 8)
      if (sequenceText &>> shift) & 0xFF != UInt64(UInt8(ascii: "9")) {
        sequenceText &+= 1 &<< shift
        return
      }
      sequenceText &-= 9 &<< shift
      place &-= 1
    }
    expect(sequence)
  }

  @inline(never)
  private mutating func expect(_ next: UInt64) {
    sequence = next
    (sequenceText, sequenceMask, sequenceWidth) = (1, 0, 0)
    guard next > 0, next < 10_000_000 else { return }
    var text = UInt64(Field.tab)
    var rest = next
    var width = 1
    while rest > 0 {
      text = text << 8 | (UInt64(UInt8(ascii: "0")) + rest % 10)
      rest /= 10
      width += 1
    }
    sequenceText = text
    sequenceMask = width == 8 ? .max : 1 << UInt64(width * 8) - 1
    sequenceWidth = width
  }
}
