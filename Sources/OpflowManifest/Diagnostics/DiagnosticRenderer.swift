internal import OpflowCore

/// Formats diagnostics as text:
///
///     pipeline.yaml:4:13: error: unknown task `fech`
///         needs: [fech]
///                 ^
///     help: did you mean `fetch`?
package struct DiagnosticRenderer: Sendable {
  /// Whether to use terminal colours (ECMA-48, SGR).
  package var isColored: Bool

  /// The number of characters shown of a source line.
  private static let shownCharacters = 160

  package init(isColored: Bool) { self.isColored = isColored }

  package func render(_ diagnostic: Diagnostic) -> String {
    var text = bold(head(of: diagnostic)) + " "
    switch diagnostic.severity {
    case .error: text += styled("error:", "1;31")
    case .warning: text += styled("warning:", "1;33")
    }
    text += " " + bold(Self.printable(diagnostic.message)) + "\n"
    if diagnostic.sourceLine.contains(where: { $0 != " " && $0 != "\t" }) {
      text += excerpt(of: diagnostic)
    }
    for note in diagnostic.notes {
      text += "\(Self.printable(note.file)):\(note.line):"
      text += note.column > 0 ? "\(note.column): " : " "
      text += styled("note:", "36") + " " + Self.printable(note.message) + "\n"
    }
    if let help = diagnostic.help {
      text += styled("help:", "36") + " " + Self.printable(help) + "\n"
    }
    return text
  }

  /// Formats all diagnostics, and says how many errors are not shown.
  package func render(_ error: ManifestError) -> String {
    var text = error.diagnostics.map { render($0) }.joined()
    let shown = error.diagnostics.count { $0.severity == .error }
    if error.errorCount > shown {
      text += "\(error.errorCount) mistakes in all; the first \(shown) are shown\n"
    }
    return text
  }

  private func head(of diagnostic: Diagnostic) -> String {
    let file = Self.printable(diagnostic.file)
    return diagnostic.line > 0 ? "\(file):\(diagnostic.line):\(diagnostic.column):" : "\(file):"
  }

  private func excerpt(of diagnostic: Diagnostic) -> String {
    let line = Array(diagnostic.sourceLine.unicodeScalars)
    let place = min(diagnostic.sourceColumn, line.count)
    let first = max(0, place - Self.shownCharacters / 2)
    let shown = line[first..<min(line.count, first + Self.shownCharacters)]
    var text = ""
    text.unicodeScalars.append(contentsOf: shown)
    // Tabs before the caret stay tabs, to keep it below its character.
    let indent = String(line[first..<place].map { $0 == "\t" ? "\t" : " " })
    return Self.printable(text) + "\n" + indent + styled("^", "1;32") + "\n"
  }

  /// Replaces control characters and invisible ones with U+FFFD.
  static func printable(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 9, 0x20...0x7E: result.unicodeScalars.append(scalar)
      case 0...0x1F, 0x7F...0x9F, 0x200E...0x200F: result.append("\u{FFFD}")
      default:
        if CleanText.isInvisible(scalar) {
          result.append("\u{FFFD}")
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
    }
    return result
  }

  private func bold(_ text: String) -> String { styled(text, "1") }

  private func styled(_ text: String, _ codes: String) -> String {
    isColored ? "\u{1B}[\(codes)m\(text)\u{1B}[0m" : text
  }
}
