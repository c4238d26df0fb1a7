internal import OpflowBase
package import OpflowJournal
package import OpflowPlan

package enum RunsView {
  package enum Row {
    case run(RunStatus, manifest: String)
    case unreadable(run: String, complaint: String)
    /// About to start, or ended before the journal had a line.
    case notBegun(run: String)
  }

  package static func text(
    _ rows: [Row], nowMilliseconds: Int64, color: Bool, columns: Int? = nil
  ) -> [UInt8] {
    var table = TextTable(
      ["RUN", "NAME", "STATE", "DONE", "FAILED", "TIME", "STARTED", "MANIFEST"],
      rightAligned: [3, 4, 5])
    for row in rows {
      switch row {
      case .run(let status, let manifest):
        table.add([
          status.run, CleanText.string(status.name), status.state.rawValue,
          "\(status.counts.ended)/\(status.counts.total)",
          status.counts.failed > 0 ? "\(status.counts.failed)" : "",
          DurationText.text(milliseconds: status.sessionsMilliseconds(at: nowMilliseconds)),
          age(nowMilliseconds - status.openedMilliseconds), CleanText.string(manifest),
        ])
      case .unreadable(let run, let complaint):
        table.add([run, "", "damaged", "", "", "", "", CleanText.string(complaint)])
      case .notBegun(let run): table.add([run, "", "not started", "", "", "", "", ""])
      }
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
    case ..<3600: return ago(seconds / 60, "minute")
    case ..<86_400: return ago(seconds / 3600, "hour")
    default: return ago(seconds / 86_400, "day")
    }
  }

  private static func ago(_ count: Int64, _ unit: String) -> String {
    "\(count) \(unit)\(count == 1 ? "" : "s") ago"
  }
}

package struct CleanView {
  package struct Row {
    let run: String
    let manifest: String
    let state: String
    let ageMilliseconds: Int64
    let bytes: UInt64

    /// `manifest` is nil for a run that never began, `end` after a crash.
    package init(
      run: RunID, manifest: String?, end: RunState?, ageMilliseconds: Int64, bytes: UInt64
    ) {
      self.run = run.description
      self.manifest = manifest ?? ""
      state = manifest == nil ? "not started" : (end ?? .interrupted).rawValue
      self.ageMilliseconds = ageMilliseconds
      self.bytes = bytes
    }
  }

  private let rows: [Row]
  private let left: Int
  private let isDryRun: Bool
  /// Old runs that stay because they are live, can be resumed, or cannot be read.
  package var live = 0
  package var resumable = 0
  package var unreadable = 0

  package init(_ rows: [Row], left: Int, isDryRun: Bool) {
    self.rows = rows
    self.left = left
    self.isDryRun = isDryRun
  }

  package func text(color: Bool, columns: Int?) -> [UInt8] {
    var text = TextBuffer()
    if isDryRun, !rows.isEmpty {
      var table = TextTable(["RUN", "STATE", "LAST USED", "SIZE", "MANIFEST"], rightAligned: [3])
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
      (live, "live"), (resumable, "resumable"), (unreadable, "unreadable"),
    ].filter { $0.0 > 0 }.map { "\($0) \($1)" }
    let among = others.isEmpty ? "" : " (old, but kept: \(others.joined(separator: ", ")))"
    let rest = "\(Self.runs(left)) \(left == 1 ? "remains" : "remain")\(among)"
    if rows.isEmpty { return "nothing to remove; \(rest)" }
    let bytes = SizeText.text(bytes: rows.reduce(0) { $0 + $1.bytes })
    return "\(isDryRun ? "would remove" : "removed") \(Self.runs(rows.count)), \(bytes); \(rest)"
  }

  package static func ofEnd(count: Int, keep: Int) -> String {
    "removed \(runs(count)); the newest \(keep) of this manifest remain (`keep_runs`)"
  }

  private static func runs(_ count: Int) -> String {
    "\(CountText.grouped(count)) run\(count == 1 ? "" : "s")"
  }
}
