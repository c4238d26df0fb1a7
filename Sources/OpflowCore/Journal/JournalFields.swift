/// The keys and values of a line.
package struct JournalFields: Sequence, IteratorProtocol {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

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

  var keyText: String { String(decoding: key, as: UTF8.self) }

  /// The value as a person wrote it; bytes that are no UTF-8 become U+FFFD.
  package var text: String { Field.text(value) ?? "" }

  /// A number that is not negative; 0 for anything else, and for one of more than 18 digits.
  var natural: Int64 { value.natural }

  var small: Int32? { Field.number(value) }
}

/// Where a reader of a line's fields stands that knows the keys it looks for: at the first byte of a
/// field.
///
/// A short number is read without a search for its end first. Behind the line stands a byte of no
/// number (`JournalLine.bytes`), so that one never leads out of it.
struct FieldCursor {
  private let bytes: ByteWindow
  private let end: Int
  private var position: Int

  @inline(__always)
  init(_ line: JournalLine) {
    bytes = line.bytes
    end = line.end
    position = line.fieldsStart
  }

  @inline(__always)
  var isAtEnd: Bool { position >= end }

  /// The first bytes of the field, and what stands behind it where it is shorter. No key that is asked
  /// for is longer, with its equals sign.
  @inline(__always)
  var eight: EightBytes { bytes.eight(at: position) }

  /// Whether a field follows that begins so, in at most eight bytes.
  @inline(__always)
  func begins(with text: StaticString) -> Bool {
    position < end && bytes.eight(at: position).begins(with: text)
  }

  /// On to the next field, which begins behind so many bytes.
  @inline(__always)
  mutating func skip(_ count: Int) { position &+= count }

  /// On to the next field, from `count` bytes behind the beginning of this one.
  @inline(__always)
  mutating func pass(behind count: Int) {
    position = bytes.position(of: Field.tab, from: position &+ count, to: end) &+ 1
  }

  /// The value behind so many bytes, and on to the next field.
  @inline(__always)
  mutating func text(behind count: Int) -> UnsafeRawBufferPointer {
    let start = position &+ count
    pass(behind: count)
    return bytes.part(start, position &- 1)
  }

  /// The same for a value that mostly has more than sixteen bytes.
  @inline(__always)
  mutating func longText(behind count: Int) -> UnsafeRawBufferPointer {
    let start = position &+ count
    guard start &+ 16 < end, bytes.eight(at: start).position(of: Field.tab) == 8,
      bytes.eight(at: start &+ 8).position(of: Field.tab) == 8
    else { return text(behind: count) }
    pass(behind: count &+ 16)
    return bytes.part(start, position &- 1)
  }

  /// A number of one digit; nil for anything else, and the cursor stays.
  @inline(__always)
  mutating func digit(behind count: Int) -> Int64? {
    let stop = position &+ count &+ 1
    guard stop <= end else { return nil }
    let value = bytes[stop &- 1] &- 48
    guard value < 10, stop == end || bytes[stop] == Field.tab else { return nil }
    position = stop &+ 1
    return Int64(value)
  }

  /// The same for a number that is not negative; 0 for anything else, and for one of more than 18
  /// digits.
  @inline(__always)
  mutating func natural(behind count: Int) -> Int64 {
    if let number = shortNumber(behind: count) { return number }
    return text(behind: count).natural
  }

  /// The same for a number of at most 32 bits; nil for anything else.
  @inline(__always)
  mutating func small(behind count: Int) -> Int32? {
    if let number = shortNumber(behind: count) { return Int32(truncatingIfNeeded: number) }
    return Field.number(text(behind: count))
  }

  /// A number of one to seven digits; nil for anything else, and the cursor stays.
  @inline(__always)
  private mutating func shortNumber(behind count: Int) -> Int64? {
    let value = bytes.eight(at: position &+ count)
    let digits = value.digitCount
    let stop = position &+ count &+ digits
    guard digits > 0, digits < 8, value[digits] == Field.tab || stop == end else { return nil }
    position = stop &+ 1
    return Int64(bitPattern: value.decimal(digits))
  }
}

extension UnsafeRawBufferPointer {
  /// A number that is not negative; 0 for anything else, and for one of more than 18 digits.
  @inline(never)
  fileprivate var natural: Int64 {
    guard count <= 18 else { return 0 }
    var number: Int64 = 0
    for byte in self {
      guard byte >= 48, byte <= 57 else { return 0 }
      number = number &* 10 &+ Int64(byte &- 48)
    }
    return number
  }
}
