/// Writes lines of fields, separated by TAB and ended by LF, for journal and messages. TAB, LF, CR,
/// NUL and backslash become `\t`, `\n`, `\r`, `\0` and `\\`.
public struct FieldWriter {
  public private(set) var bytes: [UInt8] = []

  public init() {}

  public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
  public mutating func removeFirst(_ count: Int) { bytes.removeFirst(count) }
  public var isEmpty: Bool { bytes.isEmpty }

  public mutating func tab() { bytes.append(Field.tab) }
  public mutating func endLine() { bytes.append(Field.lineFeed) }

  public mutating func raw(_ text: StaticString) {
    text.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  public mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }

  public mutating func number(_ value: some FixedWidthInteger) {
    // A 64-bit number has up to 20 digits, or a sign and 19.
    bytes.append(addingCapacity: 20) { $0.appendNumber(value) }
  }

  public mutating func add(_ lines: UnsafeRawBufferPointer) { bytes.append(contentsOf: lines) }

  public mutating func line(_ line: UnsafeRawBufferPointer) {
    add(line)
    endLine()
  }

  public mutating func moveEnd(from start: Int, to other: inout FieldWriter) {
    other.bytes += bytes[start...]
    bytes.removeSubrange(start...)
  }

  public mutating func append(_ other: FieldWriter) { bytes += other.bytes }

  public mutating func hexadecimal(_ value: UInt64, digitCount: Int) {
    Hexadecimal.append(value, digitCount: digitCount, to: &bytes)
  }

  public mutating func escaped(_ text: some Sequence<UInt8>) {
    let isDone: Void? = text.withContiguousStorageIfAvailable { escape(UnsafeRawBufferPointer($0)) }
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

  public mutating func escaped(_ text: String) { escaped(text.utf8) }

  public mutating func begin(_ key: Key) {
    tab()
    raw(key.name)
    raw("=")
  }

  public mutating func field(_ key: Key, _ value: String) {
    begin(key)
    escaped(value)
  }

  public mutating func field(_ key: Key, _ value: [UInt8]) {
    begin(key)
    escaped(value)
  }

  public mutating func field(_ key: Key, _ value: some FixedWidthInteger) {
    begin(key)
    number(value)
  }

  public mutating func fieldUnlessZero(_ key: Key, _ value: some FixedWidthInteger) {
    if value != 0 { field(key, value) }
  }

  public mutating func fieldUnlessEmpty(_ key: Key, _ value: String) {
    if !value.isEmpty { field(key, value) }
  }

  public mutating func fields(_ key: Key, _ values: [String]) {
    for value in values { field(key, value) }
  }

  /// Appends at most `capacity` bytes without further allocation.
  public mutating func add(capacity: Int, _ body: (inout LineSpan) -> Void) {
    bytes.append(addingCapacity: capacity) { body(&$0) }
  }

  /// Omits an empty value.
  public mutating func pair(_ key: StaticString, _ value: String) {
    if value.isEmpty { return }
    tab()
    raw(key)
    raw("=")
    escaped(value)
  }

  public mutating func removeLast(_ count: Int) { bytes.removeLast(count) }

  /// Fills in a checksum that precedes its data.
  public mutating func overwrite(at offset: Int, with replacement: some Collection<UInt8>) {
    bytes.replaceSubrange(offset..<(offset + replacement.count), with: replacement)
  }
}

public enum Field {
  public static let tab: UInt8 = 9
  public static let lineFeed: UInt8 = 10
  public static let carriageReturn: UInt8 = 13
  public static let backslash: UInt8 = 92

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

  public static func escapeLetter(_ byte: UInt8) -> UInt8? { FieldEscape(rawValue: byte)?.letter }

  /// nil if an escape is invalid.
  public static func unescaped(_ field: some Sequence<UInt8>) -> [UInt8]? {
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

  /// Invalid bytes become U+FFFD; nil if an escape is invalid.
  public static func text(_ field: some Sequence<UInt8>) -> String? {
    let plain = field.withContiguousStorageIfAvailable { bytes in
      bytes.contains(backslash) ? nil : String(decoding: bytes, as: UTF8.self)
    }
    if let text = plain ?? nil { return text }
    return unescaped(field).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Accepts a minus sign; nil if invalid.
  public static func number<Value: FixedWidthInteger>(
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
public typealias LineSpan = OutputSpan<UInt8>

extension OutputSpan<UInt8> {
  @inlinable @inline(__always)
  public mutating func appendText(_ text: StaticString) {
    text.withUTF8Buffer { appendBytes(UnsafeRawBufferPointer($0)) }
  }

  @_transparent
  public mutating func begin(_ key: Key) {
    append(Field.tab)
    appendText(key.name)
    append(UInt8(ascii: "="))
  }

  @_transparent
  public mutating func append(_ key: Key, _ value: some FixedWidthInteger) {
    begin(key)
    appendNumber(value)
  }

  @_transparent
  public mutating func appendUnlessZero(_ key: Key, _ value: some FixedWidthInteger) {
    if value != 0 { append(key, value) }
  }

  @inlinable @inline(__always)
  public mutating func appendBytes(_ source: UnsafeRawBufferPointer) {
    withUnsafeMutableBufferPointer { room, used in
      precondition(source.count <= room.count - used, "line is longer than its room")
      guard let start = room.baseAddress, let from = source.baseAddress else { return }
      // SAFETY: `source.count` bytes fit behind the used ones, as checked.
      UnsafeMutableRawPointer(start + used).copyMemory(from: from, byteCount: source.count)
      used += source.count
    }
  }

  @inlinable @inline(__always)
  public mutating func appendEscaped(_ source: UnsafeRawBufferPointer) {
    if Field.mayNeedEscape(source) {
      appendEscapedSlowly(source)
    } else {
      appendBytes(source)
    }
  }

  @usableFromInline
  mutating func appendEscapedSlowly(_ source: UnsafeRawBufferPointer) {
    for byte in source {
      if let letter = Field.escapeLetter(byte) {
        append(Field.backslash)
        append(letter)
      } else {
        append(byte)
      }
    }
  }

  @inlinable @inline(__always)
  public mutating func appendNumber(_ value: some FixedWidthInteger) {
    if value < 0 { append(45) }
    appendDigits(UInt64(value.magnitude))
  }

  @usableFromInline
  mutating func appendDigits(_ value: UInt64) {
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

  @inlinable @inline(__always)
  public mutating func appendHexadecimal(_ value: UInt64, digitCount: Int) {
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
  @inlinable @inline(__always)
  public static func mayNeedEscape(_ bytes: UnsafeRawBufferPointer) -> Bool {
    // No early exit, so that the compiler can vectorize the loop.
    var special: UInt8 = 0
    for byte in bytes { special |= (byte < 14 || byte == backslash) ? 1 : 0 }
    return special != 0
  }
}
