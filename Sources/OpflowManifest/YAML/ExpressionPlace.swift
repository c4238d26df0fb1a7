internal import CYAML

/// A `${{` of a decoded scalar, in its text and in the source. The last one is kept, because errors
/// mostly come in order.
struct ExpressionPlace {
  var node: Node
  var inText: Int
  var inSource: Int

  /// The state before the first expression.
  static let none = ExpressionPlace(node: Node(Int32(-1)), inText: -1, inSource: -1)
}

extension YAMLDocument {
  /// Returns the place in the source of a byte of a scalar's text.
  ///
  /// In text that libyaml decoded (folded lines, escapes, blocks), it counts `${{` to find the
  /// place.
  func place(_ node: Node, textOffset: Int) -> Place {
    file.place(offset(node, textOffset: textOffset))
  }

  private func offset(_ node: Node, textOffset: Int) -> Int {
    let target = target(node)
    let text = text(target)
    if let start = textStart(target) { return start + min(textOffset, text.count) }

    var pair = lastExpression
    if pair.node != target || pair.inText > textOffset {
      pair = ExpressionPlace(node: target, inText: -1, inSource: bodyStart(target) - 1)
    }
    while let next = Self.opening(in: text, from: pair.inText + 1), next <= textOffset {
      guard let place = Self.opening(in: source, from: pair.inSource + 1) else { break }
      (pair.inText, pair.inSource) = (next, place)
    }
    guard pair.inText >= 0 else { return offset(node) }
    lastExpression = pair
    let start = pair.inSource
    let opening = pair.inText
    // Both are equal, unless a line was folded or a character escaped.
    let end = start + textOffset - opening
    return end <= source.count
      && source.part(start..<end).isSame(as: text.part(opening..<textOffset)) ? end : start
  }

  private static func opening(in text: Text, from start: Int) -> Int? {
    let rest = text.part(min(start, text.count)..<text.count)
    // SAFETY: searches within `rest`.
    let found = cyaml_find_expression(
      rest.baseAddress?.assumingMemoryBound(to: UInt8.self), rest.count)
    return found < rest.count ? start + found : nil
  }

  /// The text of a block scalar starts behind its first line.
  private func bodyStart(_ node: Node) -> Int {
    var position = offset(node)
    guard position < source.count,
      source[position] == UInt8(ascii: "|") || source[position] == UInt8(ascii: ">")
    else { return position }
    while position < source.count, source[position] != 10 { position += 1 }
    return position
  }
}
