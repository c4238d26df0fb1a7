internal import OpflowBase

package struct Diagnostic: Equatable, Sendable {
  package enum Severity: Equatable, Sendable {
    case error, warning
  }

  package struct Note: Equatable, Sendable {
    package var file: String
    package var line: Int
    /// From 1; 0 if the line is enough.
    package var column = 0
    package var message: String
  }

  package var severity: Severity
  /// The file as the user named it, or the flag that is wrong.
  package var file: String
  /// From 1; 0 without a place in a file.
  package var line: Int
  /// From 1, in Unicode scalars.
  package var column: Int
  /// One line without a full stop.
  package var message: String
  package var help: String?
  package var notes: [Note]
  /// Only the part around the place if the line is long.
  package var sourceLine: String
  /// The number of characters before the place.
  package var sourceColumn: Int

  package init(
    severity: Severity, file: String, line: Int, column: Int, message: String,
    help: String? = nil, notes: [Note] = [], sourceLine: String = "", sourceColumn: Int = 0
  ) {
    self.severity = severity
    self.file = file
    self.line = line
    self.column = column
    self.message = message
    self.help = help
    self.notes = notes
    self.sourceLine = sourceLine
    self.sourceColumn = sourceColumn
  }
}

package struct ManifestError: Error, Equatable, Sendable {
  /// At most 50 errors by place, then warnings.
  package var diagnostics: [Diagnostic]
  /// Includes errors that are not in `diagnostics`.
  package var errorCount: Int

  package init(diagnostics: [Diagnostic], errorCount: Int) {
    self.diagnostics = diagnostics
    self.errorCount = errorCount
  }
}

extension Diagnostics {
  static let shownCount = 50

  /// Returns the first errors (or warnings) by place.
  func diagnostics(_ severity: Diagnostic.Severity, in files: [SourceFile]) -> [Diagnostic] {
    let chosen =
      all
      .filter { $0.severity == severity }
      .enumerated()
      .sorted { Self.order($0.element.place, $0.offset) < Self.order($1.element.place, $1.offset) }
      .prefix(Self.shownCount).map(\.element)
    let lookup = Lookup(chosen, files)
    return chosen.map { diagnostic($0, lookup, first: files[0]) }
  }

  private static func order(_ place: Place?, _ number: Int) -> (file: Int, offset: Int, number: Int)
  {
    (place.map { Int($0.file) } ?? -1, place?.offset ?? 0, number)
  }

  private struct Lookup {
    let files: [SourceFile]
    private var positions: [Place: SourceText.Position] = [:]

    init(_ diagnostics: [RawDiagnostic], _ files: [SourceFile]) {
      self.files = files
      let places = diagnostics.flatMap { ($0.place.map { [$0] } ?? []) + $0.notes.map(\.place) }
      for (number, places) in Dictionary(grouping: places, by: \.file) {
        let file = files[Int(number)]
        for (offset, position) in SourceText(bytes: file.text).positions(of: places.map(\.offset)) {
          positions[file.place(offset)] = position
        }
      }
    }

    func file(_ place: Place) -> SourceFile { files[Int(place.file)] }
    func position(_ place: Place) -> SourceText.Position? { positions[place] }
  }

  private func diagnostic(_ problem: RawDiagnostic, _ lookup: Lookup, first: SourceFile)
    -> Diagnostic
  {
    var result = Diagnostic(
      severity: problem.severity,
      file: problem.origin ?? problem.place.map { lookup.file($0).displayPath }
        ?? first.displayPath, line: 0, column: 0, message: Credentials.hidden(in: problem.message),
      help: problem.help.map { Credentials.hidden(in: $0) },
      notes: problem.notes.map { note in
        let position = lookup.position(note.place)
        return Diagnostic.Note(
          file: lookup.file(note.place).displayPath, line: position?.line ?? 0,
          column: note.hasColumn ? position?.column ?? 0 : 0,
          message: Credentials.hidden(in: note.message))
      })
    if let place = problem.place, let position = lookup.position(place) {
      (result.line, result.column) = (position.line, position.column)
      let line = SourceText(bytes: lookup.file(place).text).line(at: place.offset)
      let hidden = secrets.filter { $0.place.file == place.file }
      (result.sourceLine, result.sourceColumn) = line.shown(place.offset, hiding: hidden)
    }
    return result
  }
}

/// Formats diagnostics as text:
///
///     pipeline.yaml:4:13: error: unknown task `fech`
///         needs: [fech]
///                 ^
///     help: did you mean `fetch`?
package struct DiagnosticRenderer: Sendable {
  /// Colors are ECMA-48, SGR.
  package var isColored: Bool

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

  package func render(_ error: ManifestError) -> String {
    var text = error.diagnostics.map { render($0) }.joined()
    let shown = error.diagnostics.count { $0.severity == .error }
    if error.errorCount > shown {
      text += "\(error.errorCount) errors in total; the first \(shown) are shown\n"
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

  /// Replaces control and invisible characters with U+FFFD.
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
