internal import OpflowBase

struct ExpressionError: Error, Equatable {
  var offset: Int
  var message: String
  var help: String?
}

protocol ExpressionNames {
  /// Reports an error if the name has no value.
  func value(of name: ByteView, at offset: Int) -> ByteView
}

/// Parses and evaluates in one pass. Both sides of every operator are evaluated, which has no side
/// effects and finds all unknown names.
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

  private static var maximumDepth: Int { 64 }

  init(text: ByteView, position: Int, names: Names, store: TextStore) {
    lexer = ExpressionLexer(text: text, position: position)
    self.names = names
    self.store = store
  }

  mutating func evaluate() throws(ExpressionError) -> (value: ByteView, end: Int) {
    let value = try parseOr()
    guard lexer.token == .end else { throw unexpected("an operator or the end") }
    return (value, lexer.range.upperBound)
  }

  /// True if `}}` closed the expression.
  var isClosed: Bool { !lexer.range.isEmpty }

  static func isTrue(_ value: ByteView) -> Bool { !(value.isEmpty || value == "false") }

  private mutating func parseOr() throws(ExpressionError) -> ByteView {
    var left = try parseAnd()
    while lexer.token == .or {
      lexer.advance()
      let right = try parseAnd()
      try refuseSecrets(left, right)
      if !Self.isTrue(left) { left = right }
    }
    return left
  }

  private mutating func parseAnd() throws(ExpressionError) -> ByteView {
    var left = try parseEquality()
    while lexer.token == .and {
      lexer.advance()
      let right = try parseEquality()
      try refuseSecrets(left, right)
      if Self.isTrue(left) { left = right }
    }
    return left
  }

  private mutating func parseEquality() throws(ExpressionError) -> ByteView {
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

  private mutating func parseUnary() throws(ExpressionError) -> ByteView {
    var negations = 0
    while lexer.token == .not {
      negations += 1
      lexer.advance()
    }
    let value = try parsePrimary()
    if negations > 0 { try refuseSecrets(value, value) }
    return negations == 0 ? value : Self.boolean(Self.isTrue(value) == (negations % 2 == 0))
  }

  private mutating func parsePrimary() throws(ExpressionError) -> ByteView {
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
      return ExpressionLiteral.text(of: text, in: store)
    case .open: return try parseParentheses()
    case .unterminated:
      throw ExpressionError(
        offset: lexer.range.lowerBound, message: "a string in the expression is not closed",
        help: "add the closing quote")
    case .equal, .notEqual, .matches, .and, .or, .not, .close, .end, .unknown:
      throw unexpected("a value")
    }
  }

  private mutating func parseParentheses() throws(ExpressionError) -> ByteView {
    guard depth < Self.maximumDepth else {
      throw ExpressionError(
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

  /// The values of secrets are unknown until the request is sent.
  private func refuseSecrets(_ left: ByteView, _ right: ByteView) throws(ExpressionError) {
    guard SecretMark.isSecret(left) || SecretMark.isSecret(right) else { return }
    throw ExpressionError(
      offset: lexer.range.lowerBound, message: "an expression cannot compare or combine secrets",
      help: "opflow inserts it when it sends the request; write it alone: `${{ secrets.NAME }}`")
  }

  private func unexpected(_ wanted: String) -> ExpressionError {
    let found = lexer.tokenText
    var help: String?
    switch found.first {
    case UInt8(ascii: "="): help = "compare with `==`"
    case UInt8(ascii: "&"): help = "write `&&`"
    case UInt8(ascii: "|"): help = "write `||`"
    case UInt8(ascii: "*") where wanted == "a value": help = "put a pattern in quotes: 'a*'"
    case UInt8(ascii: "+"), UInt8(ascii: "*"), UInt8(ascii: "%"):
      help = "expressions cannot calculate; do that in `run`"
    case UInt8(ascii: "?"):
      help = "expressions have no `? :`; choose between values in `run`"
    case UInt8(ascii: "<"), UInt8(ascii: ">"):
      help = "expressions compare strings, with `==`, `!=` and `=~`; compare numbers in `run`"
    default: help = ForeignExpression.help(at: lexer)
    }
    if lexer.token == .end {
      help = wanted == "a value" ? "write a value, such as `vars.NAME`" : "add \(wanted)"
    }
    return ExpressionError(
      offset: lexer.range.lowerBound,
      message: lexer.token == .end
        ? "the expression ends, but \(wanted) must follow"
        : "expected \(wanted), found `\(found.string)`", help: help)
  }

  private static func boolean(_ value: Bool) -> ByteView {
    value ? ByteView("true") : ByteView("false")
  }
}

enum ExpressionToken: Equatable {
  /// `vars.NAME` and the like, `true`, `false`.
  case name
  /// A quoted string, in which a doubled quote means one.
  case string
  case number
  case equal, notEqual, matches, and, or, not
  case open, close
  /// `}}`, or the end of the text.
  case end
  case unterminated
  case unknown
}

struct ExpressionLexer {
  let text: ByteView
  private(set) var token = ExpressionToken.end
  private(set) var range = 0..<0

  init(text: ByteView, position: Int) {
    self.text = text
    range = position..<position
    advance()
  }

  var tokenText: ByteView { text.part(range) }

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
    while end < text.count, ASCII.isDigit(text[end]) || text[end] == UInt8(ascii: ".") { end += 1 }
    return end - start
  }

  private func characterLength(at start: Int) -> Int {
    var end = start + 1
    while end < text.count, text[end] & 0xC0 == 0x80 { end += 1 }
    return end - start
  }
}

enum ExpressionLiteral {
  /// Doubled quotes become one.
  static func text(of literal: ByteView, in store: TextStore) -> ByteView {
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

  static func append(_ text: ByteView, to store: TextStore) {
    store.append("'")
    var rest = text
    while let place = rest.firstIndex(of: UInt8(ascii: "'")) {
      store.append(rest.part(0..<(place + 1)))
      store.append("'")
      rest = rest.part((place + 1)..<rest.count)
    }
    store.append(rest)
    store.append("'")
  }
}

enum ForeignExpression {
  /// The language has no functions.
  static func call(of name: ByteView, at offset: Int) -> ExpressionError {
    let help: String
    if name == "always" || name == "cancelled" {
      help =
        "`finally: true` runs a task after all others, even if they fail;"
        + " `needs: [{ task: ID, on: finished }]` runs it after any result of one task"
    } else if name == "failure" {
      help = "`needs: [{ task: ID, on: failure }]` runs a task if another one fails"
    } else if name == "success" {
      help = "a task runs only if its dependencies succeed; remove this"
    } else {
      help = "compare strings with `==` and `!=`; do everything else in `run`"
    }
    return ExpressionError(
      offset: offset, message: "`\(name.string)()`: expressions do not have functions", help: help)
  }

  static func help(for name: ByteView) -> String? {
    if let rest = after("github.", name) {
      if rest.hasPrefix("event.") {
        return "GitHub Actions describes the event in the file that `env.GITHUB_EVENT_PATH` names"
      }
      return "GitHub Actions sets it in the environment: `env.GITHUB_\(upper(rest))`"
    }
    if let rest = after("runner.", name) {
      return "GitHub Actions sets it in the environment: `env.RUNNER_\(upper(rest))`"
    }
    if let rest = after("secrets.", name) {
      return "add `secrets: [\(rest.string)]` to the task, and read `$\(rest.string)` in `run`;"
        + " only `headers` of a download can have the expression"
    }
    if let rest = after("inputs.", name) {
      return "declare it under `vars`, write `vars.\(rest.string)`, and set it with `--set`"
    }
    if name.hasPrefix("steps.") || name.hasPrefix("jobs.") {
      return
        "a task writes values to files in `$OPFLOW_VALUES`; its dependents read `needs.ID.NAME`"
    }
    return nil
  }

  static func help(at lexer: ExpressionLexer) -> String? {
    let rest = lexer.text.part(lexer.range.upperBound..<lexer.text.count)
    if lexer.tokenText == "and" { return "write `&&`" }
    if lexer.tokenText == "or" { return "write `||`" }
    switch lexer.tokenText.first {
    case UInt8(ascii: "$"):
      let start = rest.first == UInt8(ascii: "{") ? 1 : 0
      let end = rest[start...].firstIndex { !ASCII.continuesName($0) } ?? rest.count
      return end > start
        ? "write `env.\(rest.part(start..<end).string)` for an environment variable" : nil
    case UInt8(ascii: "/") where lexer.text.part(0..<lexer.range.lowerBound).trimmed.last == 0x7E:
      return "put the pattern in quotes: `env.NAME =~ 'a*'`"
    case UInt8(ascii: "-"), UInt8(ascii: "["), UInt8(ascii: "/"):
      return "an expression cannot run a command; use `run` for that"
    default: return nil
    }
  }

  private static func after(_ prefix: StaticString, _ name: ByteView) -> ByteView? {
    name.hasPrefix(prefix) ? name.part(prefix.utf8CodeUnitCount..<name.count) : nil
  }

  private static func upper(_ text: ByteView) -> String { text.string.uppercased() }
}
