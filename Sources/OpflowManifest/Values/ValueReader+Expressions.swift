extension ValueReader {
  func hasExpression(_ node: Node) -> Bool { hasExpression(document.text(node)) }

  @inline(__always)
  private func hasExpression(_ text: Text) -> Bool {
    document.hasExpressions && ExpressionTemplate.hasExpression(text)
  }

  /// Returns a scalar; nil, after an error, if an expression in it is wrong.
  @inline(__always)
  func possiblyNull(_ node: Node, _ subject: Subject, expected: StaticString) -> Scalar? {
    if let text = document.scalarText(node), !hasExpression(text) {
      return Scalar(node: node, text: text, stable: text, isTyped: document.isPlain(node))
    }
    return evaluated(node, subject, expected: expected)
  }

  /// The slow path of `possiblyNull`.
  @inline(never)
  private func evaluated(
    _ node: Node, _ subject: Subject, expected: StaticString
  ) -> Scalar? {
    guard let text = document.scalarText(node) else {
      wrongType(node, subject, expected: expected)
      return nil
    }
    guard let (value, stable, isLate) = expand(text, of: node) else { return nil }
    return Scalar(
      node: node, text: value, stable: stable, isTyped: !isLate, isLate: isLate)
  }

  /// Evaluates expressions. `stable` has a constant for `run.id`.
  private func expand(
    _ text: Text, of node: Node
  ) -> (value: Text, stable: Text, isLate: Bool)? {
    let sawRunID = scope.sawRunID
    scope.sawRunID = false
    var isWrong = false
    let report = { (mistake: ExpressionMistake) in
      isWrong = true
      self.report(mistake, in: node)
    }
    let names = ScopedNames(scope: scope, report: report)
    var value = ExpressionTemplate.expand(
      text, valuesAs, names: names, store: scratch, literals: scope.literals, report: report)
    let isLate = takeValuesRead(node)
    if isLate, !isWrong { value = residue(of: text) }
    var stable = value
    if scope.sawRunID {
      scope.hidesRunID = true
      stable =
        isLate
        ? residue(of: text)
        : ExpressionTemplate.expand(
          text, valuesAs, names: ScopedNames(scope: scope, report: { _ in }), store: scratch,
          literals: scope.literals, report: { _ in })
      scope.hidesRunID = false
    }
    scope.sawRunID = scope.sawRunID || sawRunID
    return isWrong ? nil : (value, stable, isLate)
  }

  /// Reads a path or pattern. Values of expressions are literal names.
  func pathText(_ node: Node, _ subject: Subject) -> Scalar? {
    valuesAs = .asNames
    defer { valuesAs = .asTheyAre }
    return filledString(node, subject)
  }

  /// Returns the text without its expressions, which must be valid.
  func textWithoutValues(_ node: Node) -> Text {
    let text = document.text(node)
    if !hasExpression(text) { return text }
    return ExpressionTemplate.expand(
      text, .leftOut, names: ScopedNames(scope: scope, report: { _ in }), store: scratch,
      literals: scope.literals, report: { _ in })
  }

  /// Records the values of other tasks that were read. Returns whether there are any.
  func takeValuesRead(_ node: Node) -> Bool {
    if scope.valuesRead.isEmpty { return false }
    for (reference, offset) in scope.valuesRead {
      note(ValueReading(reference: reference, node: node, offset: offset))
    }
    scope.valuesRead.removeAll(keepingCapacity: true)
    return true
  }

  /// Returns the late part of a valid text.
  private func residue(of text: Text) -> Text {
    defer { scope.valuesRead.removeAll(keepingCapacity: true) }
    return LateText.residue(
      of: text, names: ScopedNames(scope: scope, report: { _ in }), store: scratch,
      literals: scope.literals)
  }

  func report(_ mistake: ExpressionMistake, in node: Node) {
    if mistakes.isFull { return mistakes.count() }
    // The error does not depend on what names stand for.
    mistakes.sparingNothing {
      mistakes.error(
        document.place(node, textOffset: mistake.offset), mistake.message, help: mistake.help)
    }
  }
}
