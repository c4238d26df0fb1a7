/// The keys and values of a line, whatever they are.
package struct LineFields: Sequence, IteratorProtocol {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// The next one that has both.
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
  /// As it stands, for keys of a later opflow too.
  package let name: UnsafeRawBufferPointer
  /// Escaped, as it stands.
  package let value: UnsafeRawBufferPointer

  /// Nil for bytes without an equals sign.
  init?(_ bytes: UnsafeRawBufferPointer) {
    let separator = bytes.position(of: UInt8(ascii: "="), from: 0)
    guard separator < bytes.count else { return nil }
    name = bytes.part(0, separator)
    value = bytes.part(separator + 1, bytes.count)
  }

  /// Nil for one that this opflow does not know.
  package var key: Key? { Key(name: name) }

  /// The value as a person wrote it; bytes that are no UTF-8 become U+FFFD.
  package var text: String { Field.text(value) ?? "" }

  /// A number that is not negative; 0 for anything else, and for one of more than 18 digits.
  var natural: Int64 { value.natural ?? 0 }

  var small: Int32? { Field.number(value) }
}
