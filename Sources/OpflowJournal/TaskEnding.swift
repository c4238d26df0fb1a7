internal import OpflowBase

/// The last bytes of a task's name in a line, where names mostly differ. A shorter name has other
/// bytes before it.
struct TaskEnding {
  private let eight: EightBytes
  private let length: Int

  init() { (eight, length) = (EightBytes(0), 0) }

  @inline(__always)
  init(_ eight: EightBytes, length: Int) {
    self.eight = eight
    self.length = length
  }

  @inline(__always)
  var bits: UInt64 { length == 0 ? 0 : eight.bits &>> UInt64((8 &- length) &* 8) }

  /// Bytes before the name cannot match: they are digits, tabs and the event's word.
  @inline(__always)
  var hasBackslash: Bool { eight.position(of: Field.backslash) < 8 }

  /// At the end of the name, up to eight digits; 0 without.
  @inline(__always)
  var number: Int32 { Int32(truncatingIfNeeded: eight.decimalAtEnd) }
}
