/// A line of the journal, read where it lies: valid as long as the bytes that it was made over.
///
/// Names and texts are escaped bytes, since the journal may speak of tasks that the plan no longer
/// has, and a fold over a million lines makes no strings.
package struct JournalLine {
  package let sequence: UInt64
  /// Since the epoch.
  package let milliseconds: Int64
  package let event: JournalEvent
  /// Escaped, as it stands; empty where the line speaks of the run.
  package let task: UnsafeRawBufferPointer
  /// The keys and values, with the tabs between them.
  let tail: UnsafeRawBufferPointer

  /// Beyond every number that a run can reach, so that counting on from a line never overflows.
  static let sequenceLimit: UInt64 = 1 << 62

  /// Reads a line, which is given without its line feed; nil when its checksum does not hold or it
  /// has another shape.
  @inline(__always)
  package init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count > 9, bytes[8] == Field.tab, let checksum = Self.checksum(bytes),
      Hash.crc32c(bytes.part(9, bytes.count)) == checksum
    else { return nil }
    var position = 9
    guard let sequence = Self.number(bytes, &position), sequence < Self.sequenceLimit,
      let milliseconds = Self.number(bytes, &position), milliseconds < Self.sequenceLimit
    else { return nil }
    let wordEnd = bytes.position(of: Field.tab, from: position)
    guard wordEnd < bytes.count else { return nil }
    let taskEnd = bytes.position(of: Field.tab, from: wordEnd + 1)
    self.sequence = sequence
    self.milliseconds = Int64(milliseconds)
    self.task = bytes.part(wordEnd + 1, taskEnd)
    self.event = JournalEvent(word: bytes.part(position, wordEnd), ofRun: taskEnd == wordEnd + 1)
    self.tail = bytes.part(Swift.min(taskEnd + 1, bytes.count), bytes.count)
  }

  /// The first eight bytes as a hexadecimal number.
  @inline(__always)
  private static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32? {
    bytes.hexadecimal(0, 8).map { UInt32(truncatingIfNeeded: $0) }
  }

  /// At most 19 digits and the tab behind them.
  @inline(__always)
  private static func number(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> UInt64? {
    let start = position
    var value: UInt64 = 0
    if let first = bytes.eightDigits(at: position) {
      value = first
      position += 8
    }
    while position < bytes.count {
      let byte = bytes[position]
      if byte == Field.tab {
        let digits = position - start
        position += 1
        return digits > 0 && digits < 20 ? value : nil
      }
      guard byte >= 48, byte <= 57 else { return nil }
      value = value &* 10 &+ UInt64(byte &- 48)
      position += 1
    }
    return nil
  }

  /// What stands behind the task, in the order of the line.
  package var fields: JournalFields { JournalFields(tail) }
}

/// The keys and values of a line.
package struct JournalFields: Sequence, IteratorProtocol {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  fileprivate init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  @inline(__always)
  package mutating func next() -> JournalField? {
    while position < bytes.count {
      let end = bytes.position(of: Field.tab, from: position)
      let field = bytes.part(position, end)
      position = end + 1
      let separator = field.position(of: UInt8(ascii: "="), from: 0)
      if separator < field.count {
        return JournalField(
          key: field.part(0, separator), value: field.part(separator + 1, field.count))
      }
    }
    return nil
  }
}

package struct JournalField {
  package let key: UnsafeRawBufferPointer
  /// Escaped, as it stands.
  package let value: UnsafeRawBufferPointer

  /// The value as a person wrote it; bytes that are no UTF-8 become U+FFFD.
  package var text: String { Field.text(value) ?? "" }
}
