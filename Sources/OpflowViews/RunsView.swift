package import OpflowCore

/// The table of `opflow runs`.
package enum RunsView {
  /// A run; if its journal cannot be read, it has a word and an error message instead of a status.
  package struct Row {
    let run: String
    let manifest: String
    let status: RunStatus?
    let word: String
    let complaint: String

    package init(_ status: RunStatus, manifest: String) {
      run = status.run
      self.manifest = manifest
      self.status = status
      word = ""
      complaint = ""
    }

    package init(unreadable run: String, complaint: String) {
      self.init(run, "damaged", complaint)
    }

    /// Creates the row of a run that is about to start, or ended before its journal had a line.
    package init(notBegun run: String) { self.init(run, "not begun", "") }

    private init(_ run: String, _ word: String, _ complaint: String) {
      self.run = run
      manifest = ""
      status = nil
      self.word = word
      self.complaint = complaint
    }
  }

  package static func text(
    _ rows: [Row], nowMilliseconds: Int64, color: Bool, columns: Int? = nil
  ) -> [UInt8] {
    var table = TextTable(
      ["RUN", "NAME", "STATE", "DONE", "FAILED", "TIME", "STARTED", "MANIFEST"],
      rightAligned: [3, 4, 5])
    for row in rows {
      guard let status = row.status else {
        table.add([row.run, "", row.word, "", "", "", "", CleanText.string(row.complaint)])
        continue
      }
      table.add([
        row.run, CleanText.string(status.name), status.state.rawValue,
        "\(status.counts.ended)/\(status.counts.total)",
        status.counts.failed > 0 ? "\(status.counts.failed)" : "",
        DurationText.text(milliseconds: status.drivenMilliseconds(at: nowMilliseconds)),
        age(nowMilliseconds - status.openedMilliseconds), CleanText.string(row.manifest),
      ])
    }
    var text = TextBuffer()
    // Users name a run by its ID, so that column stays.
    table.write(
      into: &text, palette: Palette(isOn: color), fitting: columns, cutsFirst: false,
      leavingOut: [7, 6, 5, 1, 4, 3])
    return text.take()
  }

  static func age(_ milliseconds: Int64) -> String {
    let seconds = max(0, milliseconds / 1000)
    switch seconds {
    case ..<60: return "just now"
    case ..<3600: return "\(seconds / 60) min ago"
    case ..<86_400: return "\(seconds / 3600) h ago"
    default: return "\(seconds / 86_400) d ago"
    }
  }
}
