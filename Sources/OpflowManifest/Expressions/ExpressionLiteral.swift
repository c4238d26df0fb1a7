/// A quoted string in an expression.
enum ExpressionLiteral {
  /// Returns the text between the quotes; doubled quotes become one.
  static func text(of literal: Text, in store: TextStore) -> Text {
    let quote = literal[0]
    let inner = literal.part(1..<(literal.count - 1))
    guard inner.contains(quote) else { return inner }
    var position = 0
    while position < inner.count {
      store.append(inner.part(position..<(position + 1)))
      position += inner[position] == quote ? 2 : 1
    }
    return store.finish()
  }

  /// Quotes `text` and adds it to the text under construction.
  static func append(_ text: Text, to store: TextStore) {
    let quote: StaticString = "'"
    store.append(quote)
    var rest = text
    while let place = rest.firstIndex(of: UInt8(ascii: "'")) {
      store.append(rest.part(0..<(place + 1)))
      store.append(quote)
      rest = rest.part((place + 1)..<rest.count)
    }
    store.append(rest)
    store.append(quote)
  }
}

extension TextStore {
  func append(_ text: StaticString) {
    // SAFETY: a literal's bytes are never freed.
    append(Text(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}
