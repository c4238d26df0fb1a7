// Finds shell variables in values that no shell reads.

extension ValueReader {
  /// Warns about `$NAME`, `${NAME}` and a leading `~/`, except in text made by an expression.
  @inline(__always)
  func warnOfShellText(_ value: Scalar, _ node: Node, _ subject: Subject) {
    guard document.marks.hasDollars || value.text.first == UInt8(ascii: "~") else { return }
    warnIfShellText(value, node, subject)
  }

  private func warnIfShellText(_ value: Scalar, _ node: Node, _ subject: Subject) {
    guard let found = ShellText(in: value.text), !hasExpression(node) else { return }
    mistakes.warning(
      document.place(node),
      "\(subject.description) holds `\(found.text.string)`, and nothing expands it here",
      help: "write `${{ env.\(found.variable) }}`")
  }
}

extension ValueReader {
  /// Advice for a shell variable in a value of another type.
  func shellHelp(_ value: Scalar) -> String? {
    guard let found = ShellText(in: value.text), !hasExpression(value.node) else { return nil }
    return "nothing expands `\(found.text.string)` here: write `${{ env.\(found.variable) }}`"
  }
}

/// A shell variable, or `~` for the home folder.
struct ShellText {
  /// The text as written.
  let text: Text
  let variable: String

  /// Finds the first variable. Only upper-case names count, because a password may contain `$`.
  init?(in value: Text) {
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
