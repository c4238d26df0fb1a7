/// Reads the known keys of a line; points at the first byte of a field.
public struct FieldCursor {
  @usableFromInline let bytes: ByteWindow
  @usableFromInline let end: Int
  @usableFromInline var offset: Int
  /// The next eight bytes; zeros at the end.
  @usableFromInline var word: EightBytes
  /// Set by an invalid value. Journal readers ignore it.
  public private(set) var isBroken = false

  /// The byte at `end` must not be a digit: short numbers are parsed without a search for their
  /// end.
  @inlinable @inline(__always)
  public init(_ bytes: ByteWindow, from start: Int, to end: Int) {
    self.bytes = bytes
    self.end = end
    offset = start
    word = start < end ? bytes.eight(at: start) : EightBytes(0)
  }

  @inlinable public var position: Int { offset }

  @inlinable @inline(__always)
  public var isAtEnd: Bool { position >= end }

  @inlinable @inline(__always)
  public func stands(at key: Key) -> Bool {
    key.name.utf8CodeUnitCount < 8
      ? word.begins(with: key.name, UInt8(ascii: "=")) : standsLong(key)
  }

  /// The key has eight bytes or more.
  @usableFromInline @inline(never)
  func standsLong(_ key: Key) -> Bool {
    let width = Self.width(key)
    guard position &+ width <= end, bytes[position &+ width &- 1] == UInt8(ascii: "=") else {
      return false
    }
    return bytes.part(position, position &+ width &- 1).equals(key.name)
  }

  @inlinable @inline(__always)
  public mutating func pass() { pass(behind: 0) }

  @inlinable @inline(__always)
  mutating func pass(behind count: Int) {
    stand(at: bytes.position(of: Field.tab, from: position &+ count, to: end) &+ 1)
  }

  @inlinable @inline(__always)
  mutating func stand(at next: Int) {
    offset = next
    word = next < end ? bytes.eight(at: next) : EightBytes(0)
  }

  @inlinable @inline(__always)
  static func width(_ key: Key) -> Int { key.name.utf8CodeUnitCount &+ 1 }

  @inlinable @inline(__always)
  public mutating func text(_ key: Key) -> UnsafeRawBufferPointer {
    let start = position &+ Self.width(key)
    pass(behind: Self.width(key))
    return bytes.part(start, position &- 1)
  }

  /// Fast for values of more than sixteen bytes.
  @inlinable @inline(__always)
  public mutating func longText(_ key: Key) -> UnsafeRawBufferPointer {
    let start = position &+ Self.width(key)
    guard start &+ 16 < end, bytes.eight(at: start).position(of: Field.tab) == 8,
      bytes.eight(at: start &+ 8).position(of: Field.tab) == 8
    else { return text(key) }
    pass(behind: Self.width(key) &+ 16)
    return bytes.part(start, position &- 1)
  }

  /// At most 18 digits; 0 if invalid.
  @inlinable @inline(__always)
  public mutating func natural(_ key: Key) -> Int64 {
    if let number = shortNumber(key) { return number }
    return longNatural(key)
  }

  @usableFromInline @inline(never)
  mutating func longNatural(_ key: Key) -> Int64 {
    if let number = text(key).natural { return number }
    isBroken = true
    return 0
  }

  @inlinable @inline(__always)
  public mutating func small(_ key: Key) -> Int32? {
    if let number = shortNumber(key) { return Int32(truncatingIfNeeded: number) }
    let number: Int32? = Field.number(text(key))
    if number == nil { setBroken() }
    return number
  }

  @usableFromInline
  mutating func setBroken() { isBroken = true }

  /// Does not move unless the number has one digit.
  @inlinable @inline(__always)
  public mutating func digit(_ key: Key) -> Int64? {
    let stop = position &+ Self.width(key) &+ 1
    guard stop <= end else { return nil }
    let value = bytes[stop &- 1] &- 48
    guard value < 10, stop == end || bytes[stop] == Field.tab else { return nil }
    stand(at: stop &+ 1)
    return Int64(value)
  }

  /// Does not move unless the number has 1 to 7 digits.
  @inlinable @inline(__always)
  mutating func shortNumber(_ key: Key) -> Int64? {
    let value = bytes.eight(at: position &+ Self.width(key))
    let digits = value.digitCount
    let stop = position &+ Self.width(key) &+ digits
    guard digits > 0, digits < 8, value[digits] == Field.tab || stop == end else { return nil }
    stand(at: stop &+ 1)
    return Int64(bitPattern: value.decimal(digits))
  }
}

extension UnsafeRawBufferPointer {
  @inline(never)
  public var natural: Int64? {
    guard count > 0, count <= 18 else { return nil }
    var number: Int64 = 0
    for byte in self {
      guard byte >= 48, byte <= 57 else { return nil }
      number = number &* 10 &+ Int64(byte &- 48)
    }
    return number
  }
}

/// Includes unknown keys.
public struct LineFields: Sequence, IteratorProtocol {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  public init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  public mutating func next() -> LineField? {
    while position < bytes.count {
      let end = bytes.position(of: Field.tab, from: position)
      let field = LineField(bytes.part(position, end))
      position = end + 1
      if let field { return field }
    }
    return nil
  }
}

public struct LineField {
  /// May be a key of a later opflow.
  public let name: UnsafeRawBufferPointer
  /// Escaped.
  public let value: UnsafeRawBufferPointer

  public init?(_ bytes: UnsafeRawBufferPointer) {
    let separator = bytes.position(of: UInt8(ascii: "="), from: 0)
    guard separator < bytes.count else { return nil }
    name = bytes.part(0, separator)
    value = bytes.part(separator + 1, bytes.count)
  }

  public var key: Key? { Key(name: name) }

  /// Bytes that are not UTF-8 become U+FFFD.
  public var text: String { Field.text(value) ?? "" }

  /// At most 18 digits; else 0.
  public var natural: Int64 { value.natural ?? 0 }

  public var small: Int32? { Field.number(value) }
}

/// Excludes line feeds, which the last line need not have.
package struct LineSlices: Sequence, IteratorProtocol {
  private var rest: ArraySlice<UInt8>

  package init(_ bytes: [UInt8]) { rest = bytes[...] }

  package mutating func next() -> ArraySlice<UInt8>? {
    if rest.isEmpty { return nil }
    guard let end = rest.firstIndex(of: Field.lineFeed) else {
      defer { rest = [] }
      return rest
    }
    defer { rest = rest[(end + 1)...] }
    return rest[..<end]
  }
}

package enum LastLines {
  package static func of(_ bytes: [UInt8], count: Int) -> [UInt8] {
    var end = bytes.count
    if bytes.last == Field.lineFeed { end -= 1 }
    guard end > 0 else { return [] }
    var start = end
    var lines = 0
    while start > 0 {
      if bytes[start - 1] == Field.lineFeed {
        lines += 1
        if lines == count { break }
      }
      start -= 1
    }
    return Array(bytes[start..<end]) + [Field.lineFeed]
  }
}
