internal import CYAML

/// Another tool's syntax or typographic quotes in a script, which shells misread silently.
struct ForeignScript {
  let message: String
  let help: String

  /// Most files have no foreign syntax, which saves a search of each script.
  static func mayStand(in source: ByteView, marks: SourceMarks = SourceMarks()) -> Bool {
    func any(of byte: UInt8, _ begins: (_ next: Int) -> Bool) -> Bool {
      var place = 0
      while true {
        place += source.part(place..<source.count).offset(of: byte)
        if place + 1 >= source.count { return false }
        if begins(place + 1) { return true }
        place += 1
      }
    }
    if marks.hasBracePairs,
      any(
        of: UInt8(ascii: "{"),
        { next in
          source[next] == UInt8(ascii: "{") && (next < 2 || source[next - 2] != UInt8(ascii: "$"))
        })
    {
      return true
    }
    if marks.hasDollars,
      any(
        of: UInt8(ascii: "$"),
        { next in
          source[next] == UInt8(ascii: "(")
            // The text is `${vars.NAME}`.
            || source[next] == UInt8(ascii: "{") && isName(at: next + 1, of: source)
        })
    {
      return true
    }
    if marks.isASCII { return false }
    return any(of: 0xC2) { source[$0] == 0xA0 } || any(of: 0xE2) { source[$0] == 0x80 }
  }

  init?(in script: ByteView, of scope: NameScope) {
    var isQuoted: UInt8?
    for (offset, byte) in script.enumerated() {
      if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
        isQuoted = isQuoted == nil ? byte : isQuoted == byte ? nil : isQuoted
      }
      let rest = script.part(offset..<script.count)
      let found =
        byte == UInt8(ascii: "{")
        ? Self.braces(at: offset, of: script, scope)
        : byte == UInt8(ascii: "$")
          ? Self.dollar(rest, scope)
          : byte >= 0x80 && isQuoted == nil
            ? Self.letter(rest, isAtStart: offset == 0 || ASCII.isBlank(script[offset - 1])) : nil
      guard let found else { continue }
      self = found
      return
    }
    return nil
  }

  private init(_ message: String, help: String) {
    (self.message, self.help) = (message, help)
  }

  private init(_ text: ByteView, meaning name: String) {
    self.init(
      "`run` contains `\(text.string)`, which opflow does not expand",
      help: "write `${{ \(name) }}`")
  }

  /// Finds go-task's `{{.NAME}}` and just's `{{NAME}}` if the name is known: others may be
  /// docker's.
  private static func braces(at offset: Int, of script: ByteView, _ scope: NameScope)
    -> ForeignScript?
  {
    let rest = script.part(offset..<script.count)
    guard rest.hasPrefix("{{"), offset == 0 || script[offset - 1] != UInt8(ascii: "$"),
      let end = rest.firstIndex(of: UInt8(ascii: "}")), end < 80,
      rest.part(end..<rest.count).hasPrefix("}}")
    else { return nil }
    var inner = rest.part(2..<end).trimmed
    if inner.first == UInt8(ascii: ".") { inner = inner.part(1..<inner.count) }
    guard let name = meant(inner, scope) else { return nil }
    return ForeignScript(rest.part(0..<(end + 2)), meaning: name)
  }

  /// Finds `${vars.NAME}`, and make's `$(NAME)` with a known name.
  private static func dollar(_ rest: ByteView, _ scope: NameScope) -> ForeignScript? {
    guard rest.count > 3 else { return nil }
    let closing: UInt8 = rest[1] == UInt8(ascii: "(") ? UInt8(ascii: ")") : UInt8(ascii: "}")
    guard let end = rest.firstIndex(of: closing), end > 2, end < 80 else { return nil }
    let inner = rest.part(2..<end)
    if rest[1] == UInt8(ascii: "{") {
      guard isName(at: 0, of: inner), inner.allSatisfy({ isPart($0) }) else { return nil }
      return ForeignScript(rest.part(0..<(end + 1)), meaning: inner.string)
    }
    guard rest[1] == UInt8(ascii: "("), inner.allSatisfy(ASCII.continuesName),
      let name = meant(inner, scope)
    else { return nil }
    return ForeignScript(rest.part(0..<(end + 1)), meaning: name)
  }

  private static func letter(_ rest: ByteView, isAtStart: Bool) -> ForeignScript? {
    if rest.hasPrefix("\u{A0}") {
      return ForeignScript(
        "`run` contains a no-break space (U+00A0), which a shell reads as a letter",
        help: "replace it with a normal space")
    }
    guard isAtStart, rest.hasPrefix("“") || rest.hasPrefix("‘") else { return nil }
    let quote = rest.hasPrefix("“") ? "“" : "‘"
    return ForeignScript(
      "`run` contains `\(quote)`, which a shell does not read as a quote",
      help: "replace it with `\(quote == "“" ? "\"" : "'")`")
  }

  /// The name to use in an expression, if the manifest has it.
  private static func meant(_ inner: ByteView, _ scope: NameScope) -> String? {
    if isName(at: 0, of: inner), inner.allSatisfy({ isPart($0) }) { return inner.string }
    guard inner.count <= 60, inner.allSatisfy(ASCII.continuesName) else { return nil }
    if scope.variable(inner) != nil { return "vars.\(inner.string)" }
    return scope.matrix.names.index(of: inner).map { _ in "matrix.\(inner.string)" }
  }

  private static func isPart(_ byte: UInt8) -> Bool {
    ASCII.continuesName(byte) || byte == UInt8(ascii: ".")
  }

  private static func isName(at offset: Int, of text: ByteView) -> Bool {
    guard offset < text.count else { return false }
    let rest = text.part(offset..<text.count)
    return rest.hasPrefix("vars.") || rest.hasPrefix("matrix.") || rest.hasPrefix("env.")
  }
}

extension ByteView {
  fileprivate func offset(of byte: UInt8) -> Int {
    // SAFETY: reads within the text.
    cyaml_find_byte(start, count, byte)
  }
}

extension ValueReader {
  /// Not in text made by an expression.
  @inline(__always)
  func warnOfShellText(_ value: Scalar, _ node: Node, _ subject: Subject) {
    guard document.marks.hasDollars || value.text.first == UInt8(ascii: "~") else { return }
    warnIfShellText(value, node, subject)
  }

  private func warnIfShellText(_ value: Scalar, _ node: Node, _ subject: Subject) {
    guard let found = ShellText(in: value.text), !hasExpression(node) else { return }
    warning(
      node,
      "\(subject.description) contains `\(found.text.string)`, which opflow does not expand here",
      help: "write `${{ env.\(found.variable) }}`")
  }
}

extension ValueReader {
  func shellHelp(_ value: Scalar) -> String? {
    guard let found = ShellText(in: value.text), !hasExpression(value.node) else { return nil }
    return
      "opflow does not expand `\(found.text.string)` here; write `${{ env.\(found.variable) }}`"
  }
}

/// A shell variable, or `~` for the home folder.
struct ShellText {
  let text: ByteView
  let variable: String

  /// Names must be upper-case, because a password may contain `$`.
  init?(in value: ByteView) {
    if value == "~" || value.hasPrefix("~/") {
      (text, variable) = (value.part(0..<1), "HOME")
      return
    }
    var start = 0
    while let dollar = value.part(start..<value.count).firstIndex(of: UInt8(ascii: "$")) {
      start += dollar + 1
      let isBraced = start < value.count && value[start] == UInt8(ascii: "{")
      let first = isBraced ? start + 1 : start
      var end = first
      while end < value.count, Self.isPart(value[end]) { end += 1 }
      let isClosed = !isBraced || end < value.count && value[end] == UInt8(ascii: "}")
      guard end - first > 1, !ASCII.isDigit(value[first]), isClosed else { continue }
      text = value.part((start - 1)..<(isBraced ? end + 1 : end))
      variable = value.part(first..<end).string
      return
    }
    return nil
  }

  private static func isPart(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "_") || ASCII.isDigit(byte)
      || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
  }
}
