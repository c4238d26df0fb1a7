internal import OpflowCore

/// An error at an offset in an expression.
struct ExpressionMistake: Error, Equatable {
  var offset: Int
  var message: String
  var help: String?
}

/// Resolves names.
protocol ExpressionNames {
  /// Returns the value of a name, and reports an error if it has none.
  func value(of name: Text, at offset: Int) -> Text
}

/// Parses and evaluates in one pass. There are no side effects, so both sides of every operator are
/// evaluated, which finds all unknown names.
///
///     or      = and { "||" and }
///     and     = equality { "&&" equality }
///     equality = unary { ( "==" | "!=" | "=~" ) unary }
///     unary   = "!" unary | "(" or ")" | NAME | STRING | NUMBER
///
/// Values are texts. The empty text and `false` are false. `&&` and `||` return an operand, so
/// `env.MODE || 'release'` is a default; other operators return `true` or `false`. `=~` matches a
/// pattern with `*` and `?`.
struct ExpressionParser<Names: ExpressionNames> {
  private var lexer: ExpressionLexer
  private let names: Names
  private let store: TextStore
  private var depth = 0

  /// The limit on nested parentheses.
  private static var maximumDepth: Int { 64 }

  /// - Parameter store: Owns new texts.
  init(text: Text, position: Int, names: Names, store: TextStore) {
    lexer = ExpressionLexer(text: text, position: position)
    self.names = names
    self.store = store
  }

  /// Returns the value, and the offset behind the closing token.
  mutating func evaluate() throws(ExpressionMistake) -> (value: Text, end: Int) {
    let value = try parseOr()
    guard lexer.token == .end else { throw unexpected("an operator or the end") }
    return (value, lexer.range.upperBound)
  }

  /// Whether `}}` closed the expression.
  var isClosed: Bool { !lexer.range.isEmpty }

  static func isTrue(_ value: Text) -> Bool { !(value.isEmpty || value == "false") }

  private mutating func parseOr() throws(ExpressionMistake) -> Text {
    var left = try parseAnd()
    while lexer.token == .or {
      lexer.advance()
      let right = try parseAnd()
      try refuseSecrets(left, right)
      if !Self.isTrue(left) { left = right }
    }
    return left
  }

  private mutating func parseAnd() throws(ExpressionMistake) -> Text {
    var left = try parseEquality()
    while lexer.token == .and {
      lexer.advance()
      let right = try parseEquality()
      try refuseSecrets(left, right)
      if Self.isTrue(left) { left = right }
    }
    return left
  }

  private mutating func parseEquality() throws(ExpressionMistake) -> Text {
    var left = try parseUnary()
    while true {
      let token = lexer.token
      guard token == .equal || token == .notEqual || token == .matches else { return left }
      lexer.advance()
      let right = try parseUnary()
      try refuseSecrets(left, right)
      let isSo =
        token == .matches
        ? Glob(right.string).matches(left) : left.isSame(as: right) == (token == .equal)
      left = Self.boolean(isSo)
    }
  }

  private mutating func parseUnary() throws(ExpressionMistake) -> Text {
    var negations = 0
    while lexer.token == .not {
      negations += 1
      lexer.advance()
    }
    let value = try parsePrimary()
    if negations > 0 { try refuseSecrets(value, value) }
    return negations == 0 ? value : Self.boolean(Self.isTrue(value) == (negations % 2 == 0))
  }

  private mutating func parsePrimary() throws(ExpressionMistake) -> Text {
    let text = lexer.tokenText
    switch lexer.token {
    case .name:
      let offset = lexer.range.lowerBound
      lexer.advance()
      if lexer.token == .open { throw ForeignExpression.call(of: text, at: offset) }
      return text == "true" || text == "false" ? text : names.value(of: text, at: offset)
    case .number:
      lexer.advance()
      return text
    case .string:
      lexer.advance()
      return unquoted(text)
    case .open: return try parseParentheses()
    case .unterminated:
      throw ExpressionMistake(
        offset: lexer.range.lowerBound, message: "a text in an expression is not closed",
        help: "its closing quote is missing")
    case .equal, .notEqual, .matches, .and, .or, .not, .close, .end, .unknown:
      throw unexpected("a value")
    }
  }

  private mutating func parseParentheses() throws(ExpressionMistake) -> Text {
    guard depth < Self.maximumDepth else {
      throw ExpressionMistake(
        offset: lexer.range.lowerBound,
        message: "parentheses nested deeper than \(Self.maximumDepth) levels", help: nil)
    }
    depth += 1
    lexer.advance()
    let value = try parseOr()
    guard lexer.token == .close else { throw unexpected("`)`") }
    lexer.advance()
    depth -= 1
    return value
  }

  /// Rejects secrets as operands: their values are unknown until the request is sent.
  private func refuseSecrets(_ left: Text, _ right: Text) throws(ExpressionMistake) {
    guard SecretMark.isSecret(left) || SecretMark.isSecret(right) else { return }
    throw ExpressionMistake(
      offset: lexer.range.lowerBound, message: "a secret can be neither compared nor chosen",
      help: "it is filled in when the download is sent for: write it alone, `${{ secrets.NAME }}`")
  }

  private func unquoted(_ literal: Text) -> Text { ExpressionLiteral.text(of: literal, in: store) }

  private func unexpected(_ wanted: String) -> ExpressionMistake {
    let found = lexer.tokenText
    var help: String?
    switch found.first {
    case UInt8(ascii: "="): help = "compare with `==`"
    case UInt8(ascii: "&"): help = "write `&&`"
    case UInt8(ascii: "|"): help = "write `||`"
    case UInt8(ascii: "<"), UInt8(ascii: ">"):
      help =
        "texts are compared, by `==`, `!=` and `=~`; which number is larger is for `run` to find "
        + "out"
    default: help = ForeignExpression.help(at: lexer)
    }
    return ExpressionMistake(
      offset: lexer.range.lowerBound,
      message: lexer.token == .end
        ? "the expression ends where \(wanted) should stand"
        : "`\(found.string)` stands where \(wanted) should",
      help: help)
  }

  private static func boolean(_ value: Bool) -> Text {
    let word: StaticString = value ? "true" : "false"
    // SAFETY: a literal's bytes are never freed.
    return Text(start: word.utf8Start, count: word.utf8CodeUnitCount)
  }
}
