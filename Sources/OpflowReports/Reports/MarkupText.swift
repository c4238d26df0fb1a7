internal import OpflowCore

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
