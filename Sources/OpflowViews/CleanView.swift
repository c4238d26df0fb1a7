package import OpflowCore

/// The output of `opflow clean`.
package struct CleanView {
  package struct Row {
    let run: String
    let manifest: String
    let state: String
    let ageMilliseconds: Int64
    let bytes: UInt64

    /// - Parameters:
    ///   - manifest: nil for a run that never began.
    ///   - end: nil for a run whose last session crashed.
    package init(
      run: RunID, manifest: String?, end: RunState?, ageMilliseconds: Int64, bytes: UInt64
    ) {
      self.run = run.description
      self.manifest = manifest ?? ""
      state = manifest == nil ? "not begun" : (end ?? .interrupted).rawValue
      self.ageMilliseconds = ageMilliseconds
      self.bytes = bytes
    }
  }

  private let rows: [Row]
  private let left: Int
  private let isDryRun: Bool
  /// The numbers of old runs that stay because they are live, can be resumed, or cannot be read.
  package var live = 0
  package var resumable = 0
  package var unreadable = 0

  package init(_ rows: [Row], left: Int, isDryRun: Bool) {
    self.rows = rows
    self.left = left
    self.isDryRun = isDryRun
  }

  /// Returns the summary; a dry run lists the runs first.
  package func text(color: Bool, columns: Int?) -> [UInt8] {
    var text = TextBuffer()
    if isDryRun, !rows.isEmpty {
      var table = TextTable(["RUN", "STATE", "LAST", "SIZE", "MANIFEST"], rightAligned: [3])
      for row in rows {
        table.add([
          row.run, row.state, RunsView.age(row.ageMilliseconds), SizeText.text(bytes: row.bytes),
          CleanText.string(row.manifest),
        ])
      }
      table.write(into: &text, palette: Palette(isOn: color), fitting: columns, cutsFirst: false)
    }
    text.add("\(summary)\n")
    return text.take()
  }

  private var summary: String {
    let others = [
      (live, "live"), (resumable, "that can be resumed"), (unreadable, "that cannot be read"),
    ].filter { $0.0 > 0 }.map { "\($0) \($1)" }
    let among = others.isEmpty ? "" : ", \(others.joined(separator: ", ")) among them"
    let rest = "\(Self.runs(left)) \(left == 1 ? "is" : "are") left\(among)"
    if rows.isEmpty { return "nothing to remove; \(rest)" }
    let bytes = SizeText.text(bytes: rows.reduce(0) { $0 + $1.bytes })
    return "\(isDryRun ? "would remove" : "removed") \(Self.runs(rows.count)), \(bytes); \(rest)"
  }

  /// Returns the line with which another run ends after it removed old runs.
  package static func ofEnd(count: Int, keep: Int) -> String {
    "removed \(runs(count)) beyond the newest \(keep) of this manifest (`keep_runs`)"
  }

  private static func runs(_ count: Int) -> String {
    "\(CountText.grouped(count)) run\(count == 1 ? "" : "s")"
  }
}
