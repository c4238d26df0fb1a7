internal import OpflowBase
package import OpflowPlan

/// Writes JSON (RFC 8259) piece by piece and adds the commas. The caller closes every bracket.
package struct JSONWriter {
  package private(set) var bytes: [UInt8] = []
  private var needsComma = false
  private let isInMarkup: Bool

  /// `isInMarkup` also escapes `&`, `<` and `>`, for JSON within an HTML page.
  package init(isInMarkup: Bool = false) { self.isInMarkup = isInMarkup }

  package mutating func beginObject() { open("{") }
  package mutating func endObject() { close("}") }
  package mutating func beginArray() { open("[") }
  package mutating func endArray() { close("]") }

  package mutating func key(_ name: StaticString) {
    constant(name)
    bytes.append(58)
    needsComma = false
  }

  mutating func key(_ name: UnsafeRawBufferPointer) {
    string(name)
    bytes.append(58)
    needsComma = false
  }

  /// Must not contain characters that need escapes.
  package mutating func constant(_ text: StaticString) {
    comma()
    bytes.append(34)
    text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(34)
  }

  package mutating func string(_ text: String) {
    var text = text
    text.withUTF8 { string(UnsafeRawBufferPointer($0)) }
  }

  /// Invalid bytes become U+FFFD.
  package mutating func string(_ text: UnsafeRawBufferPointer) {
    comma()
    bytes.append(34)
    if text.allSatisfy({ $0 < 128 }) {
      for byte in text { escape(byte) }
    } else {
      for byte in String(decoding: text, as: UTF8.self).utf8 { escape(byte) }
    }
    bytes.append(34)
  }

  package mutating func number(_ value: some FixedWidthInteger) { literal("\(value)") }
  package mutating func decimal(_ text: String) { literal(text) }
  package mutating func bool(_ value: Bool) { literal(value ? "true" : "false") }
  package mutating func null() { literal("null") }

  // MARK: - Keys and their values

  package mutating func add(_ key: StaticString, _ value: String?) {
    self.key(key)
    if let value { string(value) } else { null() }
  }

  package mutating func add(_ key: StaticString, _ value: UnsafeRawBufferPointer) {
    self.key(key)
    string(value)
  }

  package mutating func add(_ key: StaticString, utf8: [UInt8]) {
    utf8.withUnsafeBytes { add(key, $0) }
  }

  package mutating func add(_ key: StaticString, _ value: (some FixedWidthInteger)?) {
    self.key(key)
    if let value { number(value) } else { null() }
  }

  package mutating func add(_ key: StaticString, _ value: Bool?) {
    self.key(key)
    if let value { bool(value) } else { null() }
  }

  package mutating func add(_ key: StaticString, decimal: String) {
    self.key(key)
    self.decimal(decimal)
  }

  package mutating func add(_ key: StaticString, _ texts: [String]) {
    array(key, texts) { $0.string($1) }
  }

  package mutating func add(_ status: ExitStatus) {
    key("exit")
    if case .exit(let code) = status { number(code) } else { null() }
    key("signal")
    if case .signal(let number) = status { self.number(number) } else { null() }
  }

  package mutating func object(_ body: (inout JSONWriter) -> Void) {
    beginObject()
    body(&self)
    endObject()
  }

  package mutating func object(_ key: StaticString, _ body: (inout JSONWriter) -> Void) {
    self.key(key)
    object(body)
  }

  package mutating func array<Items: Sequence>(
    _ key: StaticString, _ items: Items, _ body: (inout JSONWriter, Items.Element) -> Void
  ) {
    self.key(key)
    beginArray()
    for item in items { body(&self, item) }
    endArray()
  }

  package mutating func objects<Items: Sequence>(
    _ key: StaticString, _ items: Items, _ body: (inout JSONWriter, Items.Element) -> Void
  ) {
    array(key, items) { json, item in json.object { body(&$0, item) } }
  }

  package static func line(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
    var json = JSONWriter()
    json.object(body)
    json.endLine()
    return json.bytes
  }

  // MARK: - Pieces

  package mutating func take() -> [UInt8] {
    defer { bytes.removeAll(keepingCapacity: true) }
    return bytes
  }

  package mutating func endLine() {
    bytes.append(Field.lineFeed)
    needsComma = false
  }

  private mutating func open(_ bracket: Unicode.Scalar) {
    comma()
    bytes.append(UInt8(ascii: bracket))
    needsComma = false
  }

  private mutating func close(_ bracket: Unicode.Scalar) {
    bytes.append(UInt8(ascii: bracket))
    needsComma = true
  }

  private mutating func literal(_ text: String) {
    comma()
    bytes.append(contentsOf: text.utf8)
  }

  private mutating func comma() {
    if needsComma { bytes.append(44) }
    needsComma = true
  }

  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case 34, 92: bytes.append(contentsOf: [92, byte])
    case 8: bytes.append(contentsOf: [92, 98])
    case 9: bytes.append(contentsOf: [92, 116])
    case 10: bytes.append(contentsOf: [92, 110])
    case 12: bytes.append(contentsOf: [92, 102])
    case 13: bytes.append(contentsOf: [92, 114])
    case 0..<32, 127: escapeNumber(byte)
    case 38, 60, 62:
      if isInMarkup { escapeNumber(byte) } else { bytes.append(byte) }
    default: bytes.append(byte)
    }
  }

  private mutating func escapeNumber(_ byte: UInt8) {
    bytes.append(contentsOf: "\\u".utf8)
    Hexadecimal.append(UInt64(byte), digitCount: 4, to: &bytes)
  }
}
