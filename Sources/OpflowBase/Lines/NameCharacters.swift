/// The characters of a file name; a byte that is not UTF-8 counts as one above Unicode.
package enum NameCharacters {
  private static let firstByte: UInt32 = 0x11_0000
  package static let last = firstByte + 0xFF

  package static func of(_ name: some Collection<UInt8>) -> [UInt32] {
    var characters: [UInt32] = []
    var parser = Unicode.UTF8.ForwardParser()
    var iterator = name.makeIterator()
    var rest = name[...]
    while true {
      switch parser.parseScalar(from: &iterator) {
      case .valid(let encoded):
        characters.append(UTF8.decode(encoded).value)
        rest = rest.dropFirst(encoded.count)
      case .error(let length):
        characters += rest.prefix(length).map { firstByte + UInt32($0) }
        rest = rest.dropFirst(length)
      case .emptyInput: return characters
      }
    }
  }

  /// For messages, reports and JSON; an invalid byte becomes `\xe9`.
  package static func text(_ name: some Collection<UInt8>) -> String {
    if let text = String(validating: name, as: UTF8.self) { return text }
    var text = String.UnicodeScalarView()
    for character in of(name) {
      if let scalar = Unicode.Scalar(character) {
        text.append(scalar)
      } else {
        var escape = Array("\\x".utf8)
        Hexadecimal.append(UInt64(character - firstByte), digitCount: 2, to: &escape)
        text.append(contentsOf: String(decoding: escape, as: UTF8.self).unicodeScalars)
      }
    }
    return String(text)
  }
}
