/// Writes lines of fields, separated by TAB and ended by LF, for journal and messages. TAB, LF, CR,
/// NUL and backslash become `\t`, `\n`, `\r`, `\0` and `\\`.
package struct FieldWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
  package var isEmpty: Bool { bytes.isEmpty }

  package mutating func tab() { bytes.append(Field.tab) }
  package mutating func endLine() { bytes.append(Field.lineFeed) }

  package mutating func raw(_ text: StaticString) {
    text.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  package mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }

  package mutating func number(_ value: some FixedWidthInteger) {
    // A 64-bit number has up to 20 digits, or a sign and 19.
    bytes.append(addingCapacity: 20) { $0.appendNumber(value) }
  }

  package mutating func add(_ lines: UnsafeRawBufferPointer) { bytes.append(contentsOf: lines) }

  package mutating func line(_ line: UnsafeRawBufferPointer) {
    add(line)
    endLine()
  }

  package mutating func moveEnd(from start: Int, to other: inout FieldWriter) {
    other.bytes += bytes[start...]
    bytes.removeSubrange(start...)
  }

  package mutating func append(_ other: FieldWriter) { bytes += other.bytes }

  package mutating func hexadecimal(_ value: UInt64, digitCount: Int) {
    Hexadecimal.append(value, digitCount: digitCount, to: &bytes)
  }

  package mutating func escaped(_ text: some Sequence<UInt8>) {
    let isDone: Void? = text.withContiguousStorageIfAvailable {
      escape(UnsafeRawBufferPointer($0))
    }
    if isDone == nil { Array(text).withUnsafeBytes { escape($0) } }
  }

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

  /// Appends a tab, the key and `=`; the caller appends the value.
  package mutating func begin(_ key: Key) {
    tab()
    raw(key.name)
    raw("=")
  }

  package mutating func field(_ key: Key, _ value: String) {
    begin(key)
    escaped(value)
  }

  package mutating func field(_ key: Key, _ value: [UInt8]) {
    begin(key)
    escaped(value)
  }

  package mutating func field(_ key: Key, _ value: some FixedWidthInteger) {
    begin(key)
    number(value)
  }

  package mutating func fieldUnlessZero(_ key: Key, _ value: some FixedWidthInteger) {
    if value != 0 { field(key, value) }
  }

  package mutating func fieldUnlessEmpty(_ key: Key, _ value: String) {
    if !value.isEmpty { field(key, value) }
  }

  package mutating func fields(_ key: Key, _ values: [String]) {
    for value in values { field(key, value) }
  }

  /// Appends at most `capacity` bytes without further allocation.
  package mutating func add(capacity: Int, _ body: (inout LineSpan) -> Void) {
    bytes.append(addingCapacity: capacity) { body(&$0) }
  }

  /// Writes nothing if the value is empty.
  package mutating func pair(_ key: StaticString, _ value: String) {
    if value.isEmpty { return }
    tab()
    raw(key)
    raw("=")
    escaped(value)
  }

  package mutating func removeLast(_ count: Int) { bytes.removeLast(count) }

  /// For a checksum that precedes what it covers.
  package mutating func overwrite(at offset: Int, with replacement: some Collection<UInt8>) {
    bytes.replaceSubrange(offset..<(offset + replacement.count), with: replacement)
  }
}

package enum Field {
  package static let tab: UInt8 = 9
  package static let lineFeed: UInt8 = 10
  package static let carriageReturn: UInt8 = 13
  package static let backslash: UInt8 = 92

  private enum FieldEscape: UInt8, CaseIterable {
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

  package static func escapeLetter(_ byte: UInt8) -> UInt8? { FieldEscape(rawValue: byte)?.letter }

  /// Undoes escapes; nil if an escape is invalid.
  package static func unescaped(_ field: some Sequence<UInt8>) -> [UInt8]? {
    var result: [UInt8] = []
    result.reserveCapacity(field.underestimatedCount)
    var pending = false
    for byte in field {
      if pending {
        pending = false
        guard let escape = FieldEscape(letter: byte) else { return nil }
        result.append(escape.rawValue)
      } else if byte == backslash {
        pending = true
      } else {
        result.append(byte)
      }
    }
    return pending ? nil : result
  }

  /// Decodes UTF-8, with U+FFFD for invalid bytes. Nil if an escape is invalid.
  package static func text(_ field: some Sequence<UInt8>) -> String? {
    let plain = field.withContiguousStorageIfAvailable { bytes in
      bytes.contains(backslash) ? nil : String(decoding: bytes, as: UTF8.self)
    }
    if let text = plain ?? nil { return text }
    return unescaped(field).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Accepts a minus sign; nil if invalid.
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
