/// Writes XML 1.0 piece by piece. Text is made safe to show and holds only characters that a document may
/// hold (`MarkupText`, https://www.w3.org/TR/xml/#charsets). The caller sees to it that every element is closed.
struct XMLWriter {
  private var bytes: [UInt8] = []
  /// Names of the elements that are open.
  private var open: [StaticString] = []
  /// The newest one has its `<NAME` only.
  private var isInTag = false
  /// It has text, so that no blanks may stand before its end.
  private var hasText = false

  var byteCount: Int { bytes.count }

  /// The bytes so far, which are then no longer in it.
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

  /// A line of text, without its line feed.
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
