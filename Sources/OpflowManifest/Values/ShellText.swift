// What a shell would fill in, where no shell reads it.

extension ValueReader {
  /// Warns of `$NAME`, `${NAME}` and a leading `~/` in a value that nothing expands.
  ///
  /// - Parameter node: where the value stands. What an expression made is taken as it is.
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
  /// What to write in place of a shell's variable, in a value that has to be of another type.
  func shellHelp(_ value: Scalar) -> String? {
    guard let found = ShellText(in: value.text), !hasExpression(value.node) else { return nil }
    return "nothing expands `\(found.text.string)` here: write `${{ env.\(found.variable) }}`"
  }
}

/// A variable as a shell writes it, or the home folder.
struct ShellText {
  /// As it stands.
  let text: Text
  /// What it stands for.
  let variable: String

  /// The first one of a value; nil for none. Only names in capitals count: a password may well hold
  /// a `$`.
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
