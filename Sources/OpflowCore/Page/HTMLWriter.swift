/// Writes HTML piece by piece. What is markup is known when opflow is built; all else is text
/// (`MarkupText`). The caller sees to it that every element is closed.
struct HTMLWriter {
  private(set) var bytes: [UInt8] = []

  /// The bytes so far, which are then no longer in it.
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

  /// A line of text, without its line feed.
  mutating func line(_ text: ArraySlice<UInt8>) {
    text.withUnsafeBytes { self.text($0) }
    bytes.append(Field.lineFeed)
  }

  mutating func number(_ value: some FixedWidthInteger) { bytes += "\(value)".utf8 }

  /// What a page is made of besides markup and text: its script, its style, data that is escaped already.
  mutating func embed(_ text: some Collection<UInt8>) { bytes += text }

  /// A name, which is set in a face of its own.
  mutating func code(_ name: String) {
    add("<code>")
    text(name)
    add("</code>")
  }
}
