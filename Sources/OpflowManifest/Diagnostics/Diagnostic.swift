internal import OpflowCore

/// Something wrong with a manifest, and where.
package struct Diagnostic: Equatable, Sendable {
  package enum Severity: Equatable, Sendable {
    case error, warning
  }

  /// A further place that belongs to a diagnostic.
  package struct Note: Equatable, Sendable {
    package var line: Int
    package var message: String
  }

  package var severity: Severity
  /// The manifest as the user named it, or the flag that is wrong.
  package var file: String
  /// From 1; 0 when the diagnostic is not about a place in a file.
  package var line: Int
  /// From 1, in characters (Unicode scalars).
  package var column: Int
  /// One line without a full stop, but for what it quotes of the manifest.
  package var message: String
  /// What to do, where that is not plain.
  package var help: String?
  package var notes: [Note]
  /// The line of the manifest that the diagnostic is about; of a long one what is around the place.
  package var sourceLine: String
  /// Characters of `sourceLine` before the place.
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

/// Why a manifest makes no plan.
package struct ManifestError: Error, Equatable, Sendable {
  /// The first mistakes by place, at most 50, then warnings.
  package var diagnostics: [Diagnostic]
  /// All mistakes, those beyond `diagnostics` included.
  package var errorCount: Int

  package init(diagnostics: [Diagnostic], errorCount: Int) {
    self.diagnostics = diagnostics
    self.errorCount = errorCount
  }
}

extension Mistakes {
  /// How many mistakes, and how many warnings, are shown.
  static let shownCount = 50

  /// The first mistakes (or warnings) in the order of the manifest.
  func diagnostics(_ severity: Diagnostic.Severity, in source: SourceText, file: String)
    -> [Diagnostic]
  {
    let chosen =
      all
      .filter { $0.severity == severity }
      .enumerated()
      .sorted { ($0.element.place ?? -1, $0.offset) < ($1.element.place ?? -1, $1.offset) }
      .prefix(Self.shownCount)
    let places = chosen.flatMap {
      ($0.element.place.map { [$0] } ?? []) + $0.element.notes.map(\.place)
    }
    let positions = source.positions(of: places)
    return chosen.map { diagnostic($0.element, in: source, positions, file: file) }
  }

  private func diagnostic(
    _ mistake: Mistake, in source: SourceText, _ positions: [Int: SourceText.Position], file: String
  ) -> Diagnostic {
    var result = Diagnostic(
      severity: mistake.severity, file: mistake.origin ?? file, line: 0, column: 0,
      message: Credentials.hidden(in: mistake.message),
      help: mistake.help.map { Credentials.hidden(in: $0) },
      notes: mistake.notes.map { note in
        Diagnostic.Note(
          line: positions[note.place]?.line ?? 0, message: Credentials.hidden(in: note.message))
      })
    if let place = mistake.place, let position = positions[place] {
      (result.line, result.column) = (position.line, position.column)
      let line = source.line(at: place)
      (result.sourceLine, result.sourceColumn) = line.shown(place, hiding: secrets)
    }
    return result
  }
}
