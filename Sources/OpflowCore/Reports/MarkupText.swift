/// Text of unknown origin within XML or HTML.
enum MarkupText {
  /// Appends it made safe to show (`CleanText`), each character of meaning as a reference, and only those
  /// that a document may hold: no control character, and none of what Unicode sets apart.
  static func append(_ text: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    var clean: [UInt8] = []
    CleanText.append(text, to: &clean)
    for (index, byte) in clean.enumerated() {
      switch byte {
      case UInt8(ascii: "&"): bytes += "&amp;".utf8
      case UInt8(ascii: "<"): bytes += "&lt;".utf8
      // `]]>` may not stand in a text.
      case UInt8(ascii: ">"): bytes += "&gt;".utf8
      case UInt8(ascii: "\""): bytes += "&quot;".utf8
      // A reader makes a blank of one in an attribute.
      case 9: bytes += "&#9;".utf8
      // U+FFFE and U+FFFF, which end so.
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
