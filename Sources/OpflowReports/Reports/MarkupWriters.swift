internal import OpflowBase

/// Writes XML 1.0. Text is cleaned (`MarkupText`, https://www.w3.org/TR/xml/#charsets). The caller
/// closes every element.
struct XMLWriter {
  private var bytes: [UInt8] = []
  private var open: [StaticString] = []
  private var isInTag = false
  /// The newest element has text, so its end tag must not be indented.
  private var hasText = false

  var byteCount: Int { bytes.count }

  mutating func take() -> [UInt8] {
    defer { bytes.removeAll(keepingCapacity: true) }
    return bytes
  }

  mutating func declare() { add("<?xml version=\"1.0\" encoding=\"UTF-8\"?>") }

  mutating func begin(_ name: StaticString) {
    endTag()
    newLine()
    add("<")
    add(name)
    open.append(name)
    isInTag = true
    hasText = false
  }

  mutating func end() {
    guard let name = open.popLast() else { return }
    if isInTag {
      add("/>")
    } else {
      if !hasText { newLine() }
      add("</")
      add(name)
      add(">")
    }
    isInTag = false
    hasText = false
    if open.isEmpty { bytes.append(Field.lineFeed) }
  }

  mutating func attribute(_ name: StaticString, _ value: String) {
    var value = value
    value.withUTF8 { attribute(name, UnsafeRawBufferPointer($0)) }
  }

  mutating func attribute(_ name: StaticString, _ value: UnsafeRawBufferPointer) {
    bytes.append(UInt8(ascii: " "))
    add(name)
    add("=\"")
    MarkupText.append(value, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  mutating func line(_ text: ArraySlice<UInt8>) {
    endTag()
    hasText = true
    text.withUnsafeBytes { MarkupText.append($0, to: &bytes) }
    bytes.append(Field.lineFeed)
  }

  mutating func line(_ text: String) { line(Array(text.utf8)[...]) }

  private mutating func endTag() {
    if isInTag { bytes.append(UInt8(ascii: ">")) }
    isInTag = false
  }

  private mutating func newLine() {
    bytes.append(Field.lineFeed)
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * open.count))
  }

  private mutating func add(_ text: StaticString) {
    text.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }
}

/// Untrusted text in XML or HTML.
enum MarkupText {
  /// Appends cleaned text (`CleanText`) with markup as references, and without control characters
  /// and Unicode noncharacters, which documents must not contain.
  static func append(_ text: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    var clean: [UInt8] = []
    CleanText.append(text, to: &clean)
    for (index, byte) in clean.enumerated() {
      switch byte {
      case UInt8(ascii: "&"): bytes += "&amp;".utf8
      case UInt8(ascii: "<"): bytes += "&lt;".utf8
      // XML forbids `]]>` in text.
      case UInt8(ascii: ">"): bytes += "&gt;".utf8
      case UInt8(ascii: "\""): bytes += "&quot;".utf8
      // An attribute's tab would become a space.
      case 9: bytes += "&#9;".utf8
      // The end of U+FFFE and U+FFFF.
      case 0xBE, 0xBF:
        if index > 1, clean[index - 2] == 0xEF, clean[index - 1] == 0xBF {
          bytes.removeLast(2)
          bytes += "\u{FFFD}".utf8
        } else {
          bytes.append(byte)
        }
      default: bytes.append(byte)
      }
    }
  }
}

/// Markup in a literal, whose interpolated texts are escaped (`MarkupText`).
struct Markup: ExpressibleByStringInterpolation {
  fileprivate let bytes: [UInt8]

  init(stringLiteral markup: String) { bytes = Array(markup.utf8) }
  init(stringInterpolation parts: StringInterpolation) { bytes = parts.bytes }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var bytes: [UInt8] = []

    init(literalCapacity: Int, interpolationCount: Int) {}

    mutating func appendLiteral(_ markup: String) { bytes += markup.utf8 }
    mutating func appendInterpolation(_ number: Int) { bytes += "\(number)".utf8 }

    mutating func appendInterpolation(_ text: String) {
      var text = text
      text.withUTF8 { MarkupText.append(UnsafeRawBufferPointer($0), to: &bytes) }
    }
  }
}

/// Writes HTML. The caller closes every element.
struct HTMLWriter {
  private(set) var bytes: [UInt8] = []

  mutating func take() -> [UInt8] {
    defer { bytes.removeAll(keepingCapacity: true) }
    return bytes
  }

  mutating func add(_ markup: Markup) { bytes += markup.bytes }

  mutating func line(_ text: ArraySlice<UInt8>) {
    text.withUnsafeBytes { MarkupText.append($0, to: &bytes) }
    bytes.append(Field.lineFeed)
  }

  mutating func embed(_ text: some Collection<UInt8>) { bytes += text }
}
