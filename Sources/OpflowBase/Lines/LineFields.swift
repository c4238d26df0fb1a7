/// All fields of a line, also with unknown keys.
package struct LineFields: Sequence, IteratorProtocol {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  package mutating func next() -> LineField? {
    while position < bytes.count {
      let end = bytes.position(of: Field.tab, from: position)
      let field = LineField(bytes.part(position, end))
      position = end + 1
      if let field { return field }
    }
    return nil
  }
}

package struct LineField {
  /// Possibly of a later opflow.
  package let name: UnsafeRawBufferPointer
  /// Escaped.
  package let value: UnsafeRawBufferPointer

  package init?(_ bytes: UnsafeRawBufferPointer) {
    let separator = bytes.position(of: UInt8(ascii: "="), from: 0)
    guard separator < bytes.count else { return nil }
    name = bytes.part(0, separator)
    value = bytes.part(separator + 1, bytes.count)
  }

  package var key: Key? { Key(name: name) }

  /// Unescaped, with U+FFFD for bytes that are not UTF-8.
  package var text: String { Field.text(value) ?? "" }

  /// At most 18 digits; otherwise 0.
  package var natural: Int64 { value.natural ?? 0 }

  package var small: Int32? { Field.number(value) }
}
