extension YAMLDocument {
  /// Where the byte at `textOffset` of a scalar's text stands in the source.
  ///
  /// Texts that libyaml decoded (folded lines, escapes, blocks) are found again by the `${{` before
  /// the byte: as many as there are in the text stand in the source.
  func place(_ node: Node, textOffset: Int) -> Int {
    let target = target(node)
    let text = text(target)
    if let start = textStart(target) { return start + min(textOffset, text.count) }

    var number = 0
    var opening = 0
    var position = 0
    while let next = Self.opening(in: text, from: position), next <= textOffset {
      number += 1
      opening = next
      position = next + 1
    }
    guard number > 0 else { return place(node) }
    position = bodyStart(target)
    for _ in 1..<number {
      guard let next = Self.opening(in: source, from: position) else { return place(node) }
      position = next + 1
    }
    guard let start = Self.opening(in: source, from: position) else { return place(node) }
    // Between the two the bytes are the same, unless a line was folded or a character escaped.
    let end = start + textOffset - opening
    return end <= source.count
      && source.part(start..<end).isSame(as: text.part(opening..<textOffset)) ? end : start
  }

  private static func opening(in text: Text, from start: Int) -> Int? {
    var position = start
    while position + 3 <= text.count {
      if text.part(position..<(position + 3)) == "${{" { return position }
      position += 1
    }
    return nil
  }

  /// Where the text of a scalar may begin: behind the first line of a block scalar.
  private func bodyStart(_ node: Node) -> Int {
    var position = place(node)
    guard position < source.count,
      source[position] == UInt8(ascii: "|") || source[position] == UInt8(ascii: ">")
    else { return position }
    while position < source.count, source[position] != 10 { position += 1 }
    return position
  }
}
