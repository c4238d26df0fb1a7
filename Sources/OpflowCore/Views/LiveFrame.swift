/// How large a terminal is.
package struct TerminalSize: Equatable, Sendable {
  package var columns: Int
  package var rows: Int

  package init(columns: Int, rows: Int) {
    self.columns = max(1, columns)
    self.rows = max(1, rows)
  }
}

/// What a live view shows at one moment: a line for each running task, as far as there is room, and
/// the counts.
///
///     fetch    3.2s  [=======>            ]   38%   76.0MiB/200.0MiB    24.1MiB/s  5s left
///     compile  1.1s
///     [3/12] 4.0s, 2 running, 7 waiting
struct LiveFrame {
  let model: ProgressModel
  let size: TerminalSize
  let nowMilliseconds: Int64

  private static let maxTasks = 16
  /// Columns that a terminal needs for `^C`, which it writes behind the last line.
  private static let spareColumns = 4
  private static let elapsedColumns = 6
  private static let barColumns = 8...24
  /// What the numbers of a download take at most, mostly.
  private static let detailColumns = 48

  /// Narrower than the terminal, since a full line makes some terminals wrap; at most as many as it
  /// has rows.
  var lines: [StyledLine] {
    let room = size.rows < 3 ? 0 : min(Self.maxTasks, max(1, size.rows / 2))
    var shown = model.running.count
    // "… and 1 more" takes as much room as that one.
    if shown > room { shown = max(0, room - 1) }
    // The oldest tasks are the ones to wonder about.
    let tasks = model.running.prefix(shown)
    let names = tasks.map { model.name($0.task) }
    // What there is to tell of a download needs more room than a time.
    let roomForNames =
      tasks.contains { $0.download != nil }
      ? (size.columns - 1) * 2 / 5 : size.columns - 3 - Self.elapsedColumns
    let widest = max(8, roomForNames)
    let nameColumns = min(widest, names.map { TextWidth.of($0) }.max() ?? 0)
    var lines = zip(tasks, names).map { line($0, name: $1, nameColumns) }
    if room > 0, model.running.count > shown {
      var more = StyledLine()
      more.add("… and \(model.running.count - shown) more", .dim)
      lines.append(more)
    }
    lines = lines.map { $0.cut(to: max(0, size.columns - 1)) }
    lines.append(counts.cut(to: max(1, size.columns - Self.spareColumns)))
    return lines
  }

  private var counts: StyledLine {
    var line = StyledLine()
    line.add("[\(model.finished)/\(model.total)]", .dim)
    line.add(" \(DurationText.text(milliseconds: nowMilliseconds - model.beganMilliseconds))")
    if model.failed > 0 {
      line.add(", ")
      line.add("\(model.failed) failed", .red)
    }
    line.add(", \(model.running.count) running")
    if model.notStarted > 0 { line.add(", \(model.notStarted) waiting") }
    return line
  }

  private func line(
    _ running: ProgressModel.RunningTask, name: String, _ nameColumns: Int
  ) -> StyledLine {
    var line = StyledLine()
    line.add(TextWidth.padded(TextWidth.cut(name, to: nameColumns), to: nameColumns))
    let elapsed = DurationText.text(milliseconds: nowMilliseconds - running.startedMilliseconds)
    line.add("  " + TextWidth.rightAligned(elapsed, to: Self.elapsedColumns), .dim)
    if let download = running.download { add(download, to: &line) }
    return line
  }

  private func add(_ download: DownloadProgress, to line: inout StyledLine) {
    // Beside a bar the numbers stay in their columns, or it would jump about.
    let wide = detail(download, isAligned: true)
    let room = size.columns - 1 - line.width - max(wide.width, Self.detailColumns) - 6
    let columns = min(Self.barColumns.upperBound, room)
    if columns >= Self.barColumns.lowerBound, let done = download.fraction(of: columns) {
      let tip = done > 0 && done < columns ? 1 : 0
      line.add("  [")
      line.add(String(repeating: "=", count: done - tip) + (tip > 0 ? ">" : ""), .cyan)
      line.add(String(repeating: " ", count: columns - done) + "]")
      line.append(wide)
    } else {
      let isWide = line.width + max(wide.width, Self.detailColumns) < size.columns
      line.append(isWide ? wide : detail(download, isAligned: false))
    }
  }

  /// The numbers of a download.
  private func detail(_ download: DownloadProgress, isAligned: Bool) -> StyledLine {
    let align = { (text: String, columns: Int) in
      "  " + (isAligned ? TextWidth.rightAligned(text, to: columns) : text)
    }
    let done = DownloadText.size(download.doneBytes)
    var line = StyledLine()
    if let total = download.totalBytes, let percent = download.percent {
      line.add(align("\(percent)%", 4))
      line.add(align("\(done)/\(DownloadText.size(total))", 17))
    } else {
      line.add(align(done, 9))
    }
    let pace = DownloadText.pace(download, atMilliseconds: nowMilliseconds)
    if download.stalledMilliseconds(at: nowMilliseconds) != nil {
      line.add("  \(pace[0])", .yellow)
    } else {
      if !pace[0].isEmpty { line.add(align(pace[0], 11)) }
      if !pace[1].isEmpty { line.add("  " + pace[1]) }
    }
    return line
  }
}
