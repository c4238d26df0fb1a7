internal import OpflowCore

/// Writes HTML. Markup is a `StaticString`; other text is escaped (`MarkupText`). The caller closes
/// every element.
struct HTMLWriter {
  private(set) var bytes: [UInt8] = []

  /// Returns the bytes and empties the buffer.
  mutating func take() -> [UInt8] {
    defer { bytes.removeAll(keepingCapacity: true) }
    return bytes
  }

  mutating func add(_ markup: StaticString) {
    markup.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  mutating func text(_ text: String) {
    var text = text
    text.withUTF8 { MarkupText.append(UnsafeRawBufferPointer($0), to: &bytes) }
  }

  mutating func text(_ text: UnsafeRawBufferPointer) { MarkupText.append(text, to: &bytes) }

  /// Writes a line, given without its line feed.
  mutating func line(_ text: ArraySlice<UInt8>) {
    text.withUnsafeBytes { self.text($0) }
    bytes.append(Field.lineFeed)
  }

  mutating func number(_ value: some FixedWidthInteger) { bytes += "\(value)".utf8 }

  /// Adds script, style, or escaped data.
  mutating func embed(_ text: some Collection<UInt8>) { bytes += text }

  mutating func code(_ name: String) {
    add("<code>")
    text(name)
    add("</code>")
  }
}
