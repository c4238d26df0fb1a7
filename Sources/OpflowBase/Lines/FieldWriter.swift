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

/// A buffer for one line on hot paths. A write beyond its capacity traps.
package typealias LineSpan = OutputSpan<UInt8>

extension OutputSpan<UInt8> {
  @inline(__always)
  package mutating func appendText(_ text: StaticString) {
    text.withUTF8Buffer { appendBytes(UnsafeRawBufferPointer($0)) }
  }

  @_transparent
  package mutating func begin(_ key: Key) {
    append(Field.tab)
    appendText(key.name)
    append(UInt8(ascii: "="))
  }

  @_transparent
  package mutating func append(_ key: Key, _ value: some FixedWidthInteger) {
    begin(key)
    appendNumber(value)
  }

  @_transparent
  package mutating func appendUnlessZero(_ key: Key, _ value: some FixedWidthInteger) {
    if value != 0 { append(key, value) }
  }

  @inline(__always)
  package mutating func appendBytes(_ source: UnsafeRawBufferPointer) {
    withUnsafeMutableBufferPointer { room, used in
      precondition(source.count <= room.count - used, "line is longer than its room")
      guard let start = room.baseAddress, let from = source.baseAddress else { return }
      // SAFETY: `source.count` bytes fit behind the used ones, as checked.
      UnsafeMutableRawPointer(start + used).copyMemory(from: from, byteCount: source.count)
      used += source.count
    }
  }

  @inline(__always)
  package mutating func appendEscaped(_ source: UnsafeRawBufferPointer) {
    if Field.mayNeedEscape(source) {
      appendEscapedSlowly(source)
    } else {
      appendBytes(source)
    }
  }

  private mutating func appendEscapedSlowly(_ source: UnsafeRawBufferPointer) {
    for byte in source {
      if let letter = Field.escapeLetter(byte) {
        append(Field.backslash)
        append(letter)
      } else {
        append(byte)
      }
    }
  }

  @inline(__always)
  package mutating func appendNumber(_ value: some FixedWidthInteger) {
    if value < 0 { append(45) }
    appendDigits(UInt64(value.magnitude))
  }

  private mutating func appendDigits(_ value: UInt64) {
    if value < 10 {
      append(48 + UInt8(truncatingIfNeeded: value))
      return
    }
    let count = Self.digitCount(value)
    withUnsafeMutableBufferPointer { room, used in
      precondition(count <= room.count - used, "line is longer than its room")
      guard let start = room.baseAddress else { return }
      // SAFETY: writes `count` bytes behind the used ones, as checked.
      var cursor = start + used + count
      var rest = value
      while rest >= 100 {
        let pair = UInt32(truncatingIfNeeded: rest % 100)
        rest /= 100
        cursor -= 2
        cursor[0] = 48 + UInt8(truncatingIfNeeded: pair / 10)
        cursor[1] = 48 + UInt8(truncatingIfNeeded: pair % 10)
      }
      if rest >= 10 {
        cursor -= 1
        cursor.pointee = 48 + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      }
      (cursor - 1).pointee = 48 + UInt8(truncatingIfNeeded: rest)
      used += count
    }
  }

  private static func digitCount(_ value: UInt64) -> Int {
    var count = 1
    var rest = value
    while rest >= 10_000 {
      rest /= 10_000
      count += 4
    }
    if rest >= 1000 { return count + 3 }
    if rest >= 100 { return count + 2 }
    return rest >= 10 ? count + 1 : count
  }

  /// Appends the lowest `digitCount` digits in lower case.
  @inline(__always)
  package mutating func appendHexadecimal(_ value: UInt64, digitCount: Int) {
    var shift = UInt64(digitCount * 4)
    while shift > 0 {
      shift -= 4
      let nibble = UInt8(truncatingIfNeeded: value >> shift) & 15
      append(nibble < 10 ? 48 + nibble : 87 + nibble)
    }
  }
}

extension Field {
  /// Never misses a byte that needs an escape.
  @inline(__always)
  package static func mayNeedEscape(_ bytes: UnsafeRawBufferPointer) -> Bool {
    // No early exit, so that the compiler can vectorize the loop.
    var special: UInt8 = 0
    for byte in bytes { special |= (byte < 14 || byte == backslash) ? 1 : 0 }
    return special != 0
  }
}
