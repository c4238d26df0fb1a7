/// Writes lines of fields separated by TAB and ended by LF: the alphabet of journal and wire.
///
/// TAB, LF, CR, NUL and backslash inside a field become `\t`, `\n`, `\r`, `\0` and `\\`, so a field
/// never holds a byte that ends it and a line can be cut with `awk -F'\t'`.
package struct FieldWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
  package var isEmpty: Bool { bytes.isEmpty }

  package mutating func tab() { bytes.append(Field.tab) }
  package mutating func endLine() { bytes.append(Field.lineFeed) }

  /// Text that needs no escapes, as it stands.
  package mutating func raw(_ text: StaticString) {
    text.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  package mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }

  package mutating func number(_ value: some FixedWidthInteger) {
    // Twenty digits of 64 bits, or a sign and nineteen.
    bytes.append(addingCapacity: 20) { $0.appendNumber(value) }
  }

  /// Whole lines, as they stand.
  mutating func add(_ lines: UnsafeRawBufferPointer) { bytes.append(contentsOf: lines) }

  /// A line, which is given without its line feed.
  mutating func line(_ line: UnsafeRawBufferPointer) {
    add(line)
    endLine()
  }

  /// Takes what stands behind `start` away, and adds it to another one.
  package mutating func moveEnd(from start: Int, to other: inout FieldWriter) {
    other.bytes += bytes[start...]
    bytes.removeSubrange(start...)
  }

  /// What another one has.
  package mutating func append(_ other: FieldWriter) { bytes += other.bytes }

  package mutating func hexadecimal(_ value: UInt64, digitCount: Int) {
    Hexadecimal.append(value, digitCount: digitCount, to: &bytes)
  }

  /// Text of any bytes, escaped.
  package mutating func escaped(_ text: some Sequence<UInt8>) {
    let isDone: Void? = text.withContiguousStorageIfAvailable {
      escape(UnsafeRawBufferPointer($0))
    }
    if isDone == nil { Array(text).withUnsafeBytes { escape($0) } }
  }

  /// Most text needs no escape and is copied at once.
  private mutating func escape(_ text: UnsafeRawBufferPointer) {
    var start = 0
    for place in text.indices {
      guard let letter = Field.escapeLetter(text[place]) else { continue }
      bytes.append(contentsOf: text.part(start, place))
      bytes.append(Field.backslash)
      bytes.append(letter)
      start = place + 1
    }
    bytes.append(contentsOf: text.part(start, text.count))
  }

  package mutating func escaped(_ text: String) { escaped(text.utf8) }

  /// The beginning of a field, to which its value is to be added.
  mutating func begin(_ key: Key) {
    tab()
    raw(key.name)
    raw("=")
  }

  mutating func field(_ key: Key, _ value: String) {
    begin(key)
    escaped(value)
  }

  mutating func field(_ key: Key, _ value: [UInt8]) {
    begin(key)
    escaped(value)
  }

  mutating func field(_ key: Key, _ value: some FixedWidthInteger) {
    begin(key)
    number(value)
  }

  mutating func fieldUnlessZero(_ key: Key, _ value: some FixedWidthInteger) {
    if value != 0 { field(key, value) }
  }

  mutating func fieldUnlessEmpty(_ key: Key, _ value: String) {
    if !value.isEmpty { field(key, value) }
  }

  /// A field for each.
  mutating func fields(_ key: Key, _ values: [String]) {
    for value in values { field(key, value) }
  }

  /// What a hot writer adds, of at most so many bytes.
  mutating func add(capacity: Int, _ body: (inout LineSpan) -> Void) {
    bytes.append(addingCapacity: capacity) { body(&$0) }
  }

  /// A field `key=value` with a tab before it, left out when the value is empty.
  package mutating func pair(_ key: StaticString, _ value: String) {
    if value.isEmpty { return }
    tab()
    raw(key)
    raw("=")
    escaped(value)
  }

  /// Takes the last bytes away again.
  package mutating func removeLast(_ count: Int) { bytes.removeLast(count) }

  /// Overwrites bytes written before, for a checksum that stands in front of what it covers.
  package mutating func overwrite(at offset: Int, with replacement: some Collection<UInt8>) {
    bytes.replaceSubrange(offset..<(offset + replacement.count), with: replacement)
  }
}

/// The bytes with a meaning in a line.
package enum Field {
  package static let tab: UInt8 = 9
  package static let lineFeed: UInt8 = 10
  package static let carriageReturn: UInt8 = 13
  package static let backslash: UInt8 = 92

  /// The bytes that a field holds escaped, each with the letter that stands for it behind a backslash.
  private enum Escape: UInt8, CaseIterable {
    case nul = 0
    case tab = 9
    case lineFeed = 10
    case carriageReturn = 13
    case backslash = 92

    var letter: UInt8 {
      switch self {
      case .nul: UInt8(ascii: "0")
      case .tab: UInt8(ascii: "t")
      case .lineFeed: UInt8(ascii: "n")
      case .carriageReturn: UInt8(ascii: "r")
      case .backslash: UInt8(ascii: "\\")
      }
    }

    init?(letter: UInt8) {
      switch letter {
      case UInt8(ascii: "0"): self = .nul
      case UInt8(ascii: "t"): self = .tab
      case UInt8(ascii: "n"): self = .lineFeed
      case UInt8(ascii: "r"): self = .carriageReturn
      case UInt8(ascii: "\\"): self = .backslash
      default: return nil
      }
    }
  }

  static func escapeLetter(_ byte: UInt8) -> UInt8? { Escape(rawValue: byte)?.letter }

  /// The bytes that an escaped field stands for; nil when an escape is none.
  package static func unescaped(_ field: some Sequence<UInt8>) -> [UInt8]? {
    var result: [UInt8] = []
    result.reserveCapacity(field.underestimatedCount)
    var pending = false
    for byte in field {
      if pending {
        pending = false
        guard let escape = Escape(letter: byte) else { return nil }
        result.append(escape.rawValue)
      } else if byte == backslash {
        pending = true
      } else {
        result.append(byte)
      }
    }
    return pending ? nil : result
  }

  /// The text of an escaped field; bytes that are no UTF-8 become U+FFFD.
  package static func text(_ field: some Sequence<UInt8>) -> String? {
    let plain = field.withContiguousStorageIfAvailable { bytes in
      bytes.contains(backslash) ? nil : String(decoding: bytes, as: UTF8.self)
    }
    if let text = plain ?? nil { return text }
    return unescaped(field).map { String(decoding: $0, as: UTF8.self) }
  }

  /// A decimal number, with a minus sign where it is negative; nil for anything else.
  package static func number<Value: FixedWidthInteger>(
    _ field: some Collection<UInt8>, as type: Value.Type = Value.self
  ) -> Value? {
    var digits = field[...]
    let isNegative = digits.first == 45
    if isNegative { digits = digits.dropFirst() }
    if digits.isEmpty { return nil }
    var value: Value = 0
    for byte in digits {
      guard byte >= 48, byte <= 57 else { return nil }
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      if overflow { return nil }
      let digit = Value(byte - 48)
      let (sum, overflowed) =
        isNegative
        ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
      if overflowed { return nil }
      value = sum
    }
    return value
  }
}
