internal import OpflowBase

/// Untrusted text in XML (https://www.w3.org/TR/xml/#charsets) or HTML.
enum MarkupText {
  /// Escapes cleaned text (`CleanText`). Drops control characters and replaces Unicode
  /// noncharacters, which documents must not contain.
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

/// A literal, whose interpolated texts are escaped (`MarkupText`).
struct Markup: ExpressibleByStringInterpolation {
  fileprivate let bytes: [UInt8]

  init(stringLiteral markup: String) { bytes = Array(markup.utf8) }
  init(stringInterpolation parts: StringInterpolation) { bytes = parts.bytes }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var bytes: [UInt8] = []

    init(literalCapacity: Int, interpolationCount: Int) {
      bytes.reserveCapacity(literalCapacity + 16 * interpolationCount)
    }

    mutating func appendLiteral(_ markup: String) { bytes += markup.utf8 }
    mutating func appendInterpolation(_ number: Int) { bytes += "\(number)".utf8 }

    mutating func appendInterpolation(_ text: UnsafeRawBufferPointer) {
      MarkupText.append(text, to: &bytes)
    }

    mutating func appendInterpolation(_ text: String) {
      var text = text
      text.withUTF8 { appendInterpolation(UnsafeRawBufferPointer($0)) }
    }
  }
}

/// Writes XML 1.0 or HTML. The caller closes every element.
struct MarkupWriter {
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
