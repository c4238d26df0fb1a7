enum ExpressionToken: Equatable {
  /// `vars.NAME` and the like, `true`, `false`.
  case name
  /// A quoted string, in which a doubled quote stands for one.
  case string
  case number
  case equal, notEqual, matches, and, or, not
  case open, close
  /// `}}`, or the end of the text.
  case end
  case unterminated
  /// Anything that is not a token of the language.
  case unknown
}

/// Splits an expression into tokens.
struct ExpressionLexer {
  let text: Text
  private(set) var token = ExpressionToken.end
  /// The position of the token in `text`.
  private(set) var range = 0..<0

  /// Reads the first token.
  init(text: Text, position: Int) {
    self.text = text
    range = position..<position
    advance()
  }

  var tokenText: Text { text.part(range) }

  mutating func advance() {
    var start = range.upperBound
    while start < text.count, ASCII.isBlank(text[start]) { start += 1 }
    let (next, length) = scan(at: start)
    token = next
    range = start..<(start + length)
  }

  private func scan(at start: Int) -> (ExpressionToken, length: Int) {
    guard start < text.count else { return (.end, 0) }
    let second = start + 1 < text.count ? text[start + 1] : 0
    switch text[start] {
    case UInt8(ascii: "("): return (.open, 1)
    case UInt8(ascii: ")"): return (.close, 1)
    case UInt8(ascii: "="):
      switch second {
      case UInt8(ascii: "="): return (.equal, 2)
      case UInt8(ascii: "~"): return (.matches, 2)
      default: return (.unknown, 1)
      }
    case UInt8(ascii: "!"): return second == UInt8(ascii: "=") ? (.notEqual, 2) : (.not, 1)
    case UInt8(ascii: "&"): return second == UInt8(ascii: "&") ? (.and, 2) : (.unknown, 1)
    case UInt8(ascii: "|"): return second == UInt8(ascii: "|") ? (.or, 2) : (.unknown, 1)
    case UInt8(ascii: "}"): return second == UInt8(ascii: "}") ? (.end, 2) : (.unknown, 1)
    case UInt8(ascii: "'"), UInt8(ascii: "\""): return scanString(at: start)
    case let byte where ASCII.beginsName(byte): return (.name, nameLength(at: start))
    case let byte where ASCII.isDigit(byte): return (.number, numberLength(at: start))
    default: return (.unknown, characterLength(at: start))
    }
  }

  private func scanString(at start: Int) -> (ExpressionToken, length: Int) {
    var position = start + 1
    while position < text.count {
      if text[position] == text[start] {
        guard position + 1 < text.count, text[position + 1] == text[start] else {
          return (.string, position + 1 - start)
        }
        position += 1
      }
      position += 1
    }
    return (.unterminated, text.count - start)
  }

  private func nameLength(at start: Int) -> Int {
    var end = start
    while end < text.count, ASCII.continuesName(text[end]) || text[end] == UInt8(ascii: ".") {
      end += 1
    }
    return ValueReference.hasPrefix(text.part(start..<end))
      ? ValueReference.length(in: text.part(start..<text.count)) : end - start
  }

  private func numberLength(at start: Int) -> Int {
    var end = start
    while end < text.count, ASCII.isDigit(text[end]) || text[end] == UInt8(ascii: ".") {
      end += 1
    }
    return end - start
  }

  private func characterLength(at start: Int) -> Int {
    var end = start + 1
    while end < text.count, text[end] & 0xC0 == 0x80 { end += 1 }
    return end - start
  }
}
