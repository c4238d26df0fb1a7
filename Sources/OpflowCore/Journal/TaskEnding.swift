/// The end of a task's name in a line, which names of one plan mostly differ in: eight bytes, of which the first stand
/// before a name that is shorter.
struct TaskEnding {
  private let eight: EightBytes
  private let length: Int

  /// Of no name.
  init() { (eight, length) = (EightBytes(0), 0) }

  /// - Parameter length: how many of them are of the name.
  @inline(__always)
  init(_ eight: EightBytes, length: Int) {
    self.eight = eight
    self.length = length
  }

  /// Those of the name alone.
  @inline(__always)
  var bits: UInt64 { length == 0 ? 0 : eight.bits &>> UInt64((8 &- length) &* 8) }

  /// What stands in a line before its task are digits, tabs and a word.
  @inline(__always)
  var hasBackslash: Bool { eight.position(of: Field.backslash) < 8 }

  /// The number that it ends with, of up to eight digits; 0 where there is none.
  @inline(__always)
  var number: Int32 { Int32(truncatingIfNeeded: eight.decimalAtEnd) }
}
