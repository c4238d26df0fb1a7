internal import OpflowPlan

/// Texts with values of other tasks, evaluated when the task starts. The compiler turns other names
/// into literals. The rest stays an expression, for fingerprints and views; `LateCompiler` turns it
/// into steps. All texts must be valid.
enum LateText {
  static func residue(
    of text: ByteView, names: some ExpressionNames, store: TextStore, literals: TextStore
  ) -> ByteView {
    var position = 0
    while position < text.count {
      let start = ExpressionTemplate.firstExpression(text, from: position)
      let isEscaped = start > position && start < text.count && text[start - 1] == dollar
      store.append(text.part(position..<(isEscaped ? start + 3 : start)))
      position = isEscaped ? start + 3 : start
      if start == text.count || isEscaped { continue }
      var parser = ExpressionParser(text: text, position: start + 3, names: names, store: literals)
      guard let (value, end) = try? parser.evaluate() else { break }
      position = end
      if isLate(text.part((start + 3)..<end)) {
        store.append("${{ ")
        appendResidue(of: text.part((start + 3)..<end), names, store)
        store.append("}}")
      } else if value.allSatisfy(isPlain) {
        store.append(value)
      } else {
        store.append("${{ ")
        ExpressionLiteral.append(value, to: store)
        store.append(" }}")
      }
    }
    return store.finish()
  }

  /// Returns the late part of one expression, with or without `${{ }}`.
  static func residueOfWhole(_ text: ByteView, names: some ExpressionNames, store: TextStore)
    -> ByteView
  {
    let trimmed = text.trimmed
    let start = trimmed.hasPrefix("${{") ? 3 : 0
    appendResidue(of: trimmed.part(start..<trimmed.count), names, store)
    return store.finish()
  }

  private static let dollar = UInt8(ascii: "$")

  /// Cannot be part of `${{` or `}}`.
  private static func isPlain(_ byte: UInt8) -> Bool {
    ASCII.continuesName(byte) || "./:,@%+=".utf8.contains(byte)
  }

  private static func isLate(_ expression: ByteView) -> Bool {
    var lexer = ExpressionLexer(text: expression, position: 0)
    while lexer.token != .end {
      if lexer.token == .name, ValueReference.hasPrefix(lexer.tokenText) { return true }
      lexer.advance()
    }
    return false
  }

  private static func appendResidue(
    of expression: ByteView, _ names: some ExpressionNames, _ store: TextStore
  ) {
    var lexer = ExpressionLexer(text: expression, position: 0)
    while lexer.token != .end {
      let token = lexer.tokenText
      let isKnown =
        lexer.token == .name && !ValueReference.hasPrefix(token)
        && !(token == "true" || token == "false")
      if isKnown {
        // `names` must not use `store` here.
        ExpressionLiteral.append(names.value(of: token, at: 0), to: store)
      } else {
        store.append(token)
      }
      store.append(" ")
      lexer.advance()
    }
  }
}

struct LateCompiler {
  /// Maps an ID to a range of the task's needs.
  typealias Needs = (ByteView) -> (first: Int, count: Int, isMatrixGroup: Bool)?

  private var steps: [LateStep] = []
  private let intern: (ByteView) -> TextRef
  private let needs: Needs
  private let literals: TextStore
  private var lexer = ExpressionLexer(text: ByteView.empty, position: 0)

  private init(literals: TextStore, intern: @escaping (ByteView) -> TextRef, needs: @escaping Needs)
  {
    self.literals = literals
    self.intern = intern
    self.needs = needs
  }

  static func steps(
    of text: ByteView, isTemplate: Bool, literals: TextStore, intern: (ByteView) -> TextRef,
    needs: Needs
  ) -> [LateStep] {
    withoutActuallyEscaping(intern) { intern in
      withoutActuallyEscaping(needs) { needs in
        var compiler = LateCompiler(literals: literals, intern: intern, needs: needs)
        if isTemplate {
          compiler.compile(template: text)
        } else {
          compiler.lexer = ExpressionLexer(text: text, position: 0)
          compiler.compileOr()
        }
        return compiler.steps
      }
    }
  }

  private mutating func compile(template text: ByteView) {
    var position = 0
    var isFirst = true
    func add(_ part: ByteView, _ steps: inout [LateStep]) {
      if part.isEmpty { return }
      steps.append(LateStep(.text, text: intern(part)))
      if !isFirst { steps.append(LateStep(.join)) }
      isFirst = false
    }
    while position < text.count {
      let start = ExpressionTemplate.firstExpression(text, from: position)
      if start > position, start < text.count, text[start - 1] == UInt8(ascii: "$") {
        add(text.part(position..<(start - 1)), &steps)
        add(text.part(start..<(start + 3)), &steps)
        position = start + 3
        continue
      }
      add(text.part(position..<start), &steps)
      if start == text.count { return }
      lexer = ExpressionLexer(text: text, position: start + 3)
      compileOr()
      if !isFirst { steps.append(LateStep(.join)) }
      isFirst = false
      position = lexer.range.upperBound
    }
  }

  private mutating func compileOr() {
    compileAnd()
    while lexer.token == .or {
      lexer.advance()
      compileAnd()
      steps.append(LateStep(.or))
    }
  }

  private mutating func compileAnd() {
    compileEquality()
    while lexer.token == .and {
      lexer.advance()
      compileEquality()
      steps.append(LateStep(.and))
    }
  }

  private mutating func compileEquality() {
    compileUnary()
    while let operation = comparison {
      lexer.advance()
      compileUnary()
      steps.append(LateStep(operation))
    }
  }

  private var comparison: LateStep.Operation? {
    switch lexer.token {
    case .equal: .equal
    case .notEqual: .notEqual
    case .matches: .matches
    case .name, .string, .number, .and, .or, .not, .open, .close, .end, .unterminated, .unknown: nil
    }
  }

  private mutating func compileUnary() {
    var negations = 0
    while lexer.token == .not {
      negations += 1
      lexer.advance()
    }
    compilePrimary()
    for _ in 0..<negations { steps.append(LateStep(.not)) }
  }

  private mutating func compilePrimary() {
    let text = lexer.tokenText
    switch lexer.token {
    case .name where ValueReference.hasPrefix(text): addValue(text)
    case .string: add(ExpressionLiteral.text(of: text, in: literals))
    case .open:
      lexer.advance()
      compileOr()
    case .name, .number, .equal, .notEqual, .matches, .and, .or, .not, .close, .end, .unterminated,
      .unknown:
      add(text)
    }
    lexer.advance()
  }

  private mutating func add(_ text: ByteView) {
    steps.append(LateStep(.text, text: intern(text)))
  }

  private mutating func addValue(_ reference: ByteView) {
    guard let (id, name) = ValueReference.parts(reference), let need = needs(id) else {
      return add(ByteView.empty)
    }
    steps.append(
      LateStep(
        need.isMatrixGroup ? .values : .value, text: intern(name), first: need.first,
        count: need.count))
  }
}

/// A value of another task, `needs.ID.NAME`; NAME follows the last dot.
enum ValueReference {
  private static let prefix: StaticString = "needs."

  static func hasPrefix(_ name: ByteView) -> Bool { name.hasPrefix(prefix) }

  /// An ID may have any text in brackets, and more characters than a name.
  static func length(in text: ByteView) -> Int {
    var end = 0
    while end < text.count {
      if text[end] == UInt8(ascii: "[") {
        guard let close = text.part(end..<text.count).firstIndex(of: UInt8(ascii: "]")) else {
          break
        }
        end += close + 1
      } else if ASCII.continuesName(text[end]) || ".+@:/".utf8.contains(text[end]) {
        end += 1
      } else {
        break
      }
    }
    return end
  }

  static func parts(_ reference: ByteView) -> (id: ByteView, name: ByteView)? {
    let rest = reference.part(prefix.utf8CodeUnitCount..<reference.count)
    guard let dot = rest.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return nil }
    return (rest.part(0..<dot), rest.part((dot + 1)..<rest.count))
  }
}

struct ValueReading {
  let reference: ByteView
  let node: Node
  let offset: Int
}

enum ValuePlace {
  case none
  /// In `env`, `if`, items of a list `run`, `download.url` and `download.sha256`.
  case late
  /// In a string `run`, where values are an error.
  case script
}
