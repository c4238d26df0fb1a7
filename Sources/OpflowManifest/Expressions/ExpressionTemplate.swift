internal import CYAML
internal import OpflowPlan

/// Replaces each `${{ … }}` by its value. `$${{` is a literal `${{`.
enum ExpressionTemplate {
  /// The size limit of a text, against malicious manifests.
  static let maximumBytes = 4 << 20

  enum Values {
    case asTheyAre
    /// In a path or pattern: pattern characters are escaped (`PathPattern`).
    case asNames
    case leftOut
  }

  static func hasExpression(_ text: ByteView) -> Bool {
    firstExpression(text, from: 0) < text.count
  }

  /// - Parameter report: Receives errors. The expression is then empty.
  static func expand(
    _ text: ByteView, _ values: Values = .asTheyAre, names: some ExpressionNames, store: TextStore,
    literals: TextStore, report: (ExpressionError) -> Void
  ) -> ByteView {
    var position = 0
    while position < text.count {
      let start = firstExpression(text, from: position)
      if start > position, start < text.count, text[start - 1] == UInt8(ascii: "$") {
        store.append(text.part(position..<(start - 1)))
        store.append(text.part(start..<(start + 3)))
        position = start + 3
        continue
      }
      let written = text.part(position..<start)
      if start == text.count {
        store.append(written)
        break
      }
      append(written: written, values, to: store)
      var parser = ExpressionParser(text: text, position: start + 3, names: names, store: literals)
      do {
        let (value, end) = try parser.evaluate()
        position = end
        if !parser.isClosed {
          report(unclosed(at: start))
        } else if store.pendingCount + value.count > maximumBytes {
          report(tooLong(at: start))
        } else {
          append(value, values, to: store)
        }
      } catch {
        report(problem(error, in: text, openedAt: start))
        position = close(of: text, from: start)
      }
    }
    return store.finish()
  }

  /// Escapes an open `[` and a final `\`, which would change the meaning of the following value.
  private static func append(written text: ByteView, _ values: Values, to store: TextStore) {
    guard case .asNames = values else { return store.append(text) }
    let open = PathPattern.openSet(in: text) ?? text.count
    store.append(text.part(0..<open))
    if open < text.count { store.append("\\") }
    store.append(text.part(open..<text.count))
    let backslashes = text.reversed().prefix { $0 == UInt8(ascii: "\\") }.count
    if backslashes % 2 == 1 { store.append("\\") }
  }

  private static func append(_ value: ByteView, _ values: Values, to store: TextStore) {
    switch values {
    case .leftOut: return
    case .asNames where value.contains(where: PathPattern.isEscaped):
      for place in value.indices {
        if PathPattern.isEscaped(value[place]) { store.append("\\") }
        store.append(value.part(place..<(place + 1)))
      }
    case .asNames, .asTheyAre: store.append(value)
    }
  }

  /// Evaluates one expression, with or without `${{ }}`.
  static func evaluateWhole(
    _ text: ByteView, names: some ExpressionNames, literals: TextStore
  ) throws(ExpressionError) -> ByteView {
    var start = 0
    while start < text.count, ASCII.isBlank(text[start]) { start += 1 }
    let isWrapped = text.part(start..<text.count).hasPrefix("${{")
    var parser = ExpressionParser(
      text: text, position: isWrapped ? start + 3 : start, names: names, store: literals)
    let (value, end) = try parser.evaluate()
    if isWrapped, !parser.isClosed { throw unclosed(at: start) }
    let isWhole = isWrapped ? text[end...].allSatisfy(ASCII.isBlank) : !parser.isClosed
    guard isWhole else {
      throw ExpressionError(
        offset: isWrapped ? end : end - 2, message: "the expression ends before this",
        help: "write one expression, with or without `${{ }}` around it")
    }
    return value
  }

  static func firstExpression(_ text: ByteView, from position: Int) -> Int {
    let rest = text.part(position..<text.count)
    // SAFETY: reads within `rest`.
    return position + cyaml_find_expression(rest.start, rest.count)
  }

  private static func unclosed(at start: Int) -> ExpressionError {
    ExpressionError(
      offset: start, message: "`${{` is not closed",
      help: "add `}}`, or write `$${{` for the text `${{`")
  }

  private static func tooLong(at start: Int) -> ExpressionError {
    ExpressionError(
      offset: start, message: "the value is larger than \(maximumBytes >> 20) MiB", help: nil)
  }

  /// The cause may be a missing `}}`.
  private static func problem(
    _ problem: ExpressionError, in text: ByteView, openedAt start: Int
  ) -> ExpressionError {
    let rest = text.part((start + 3)..<text.count)
    return zip(rest, rest.dropFirst()).contains { $0 == 125 && $1 == 125 }
      ? problem : unclosed(at: start)
  }

  private static func close(of text: ByteView, from start: Int) -> Int {
    var position = start + 3
    while position + 1 < text.count {
      if text[position] == 125, text[position + 1] == 125 { return position + 2 }
      position += 1
    }
    return text.count
  }
}
