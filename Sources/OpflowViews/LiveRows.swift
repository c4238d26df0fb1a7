internal import OpflowCore

/// The rows of running tasks in shared columns. Details that do not fit one row are left out of
/// all.
struct LiveRows {
  struct Row {
    var running: DriveModel.RunningTask
    var name: String
    var question: String?
    /// The expected duration; nil if unknown.
    var expectedMilliseconds: Int64?
    var isSuspended = false
    /// A service that is being stopped.
    var isStopping = false
    /// The name of the task's node; empty for this machine.
    var machine = ""
    /// The last line of its output, cleaned; empty for none.
    var said = ""
  }

  private enum Detail: CaseIterable {
    case all, withoutBytes, withoutBar, timeLeft, percent, none

    var hasBar: Bool { self == .all || self == .withoutBytes }
  }

  private let rows: [Row]
  private let columns: Int
  private let nowMilliseconds: Int64
  private let nameColumns: Int
  private let elapsedColumns: Int
  /// The width of the node column with its two spaces; 0 if it is empty or does not fit.
  private let machineColumns: Int
  private var detail = Detail.none
  private var barColumns = 0
  /// The width of expected durations; 0 if they are unknown or do not fit.
  private var expectedColumns = 0
  /// Whether the total size of any download is known.
  private let hasEnds: Bool

  private static let leastElapsedColumns = 6
  private static let leastBarColumns = 8
  private static let mostBarColumns = 24
  private static let barEdges = 4
  /// Output is shown in no fewer columns, including two spaces.
  private static let leastSaidColumns = 12
  /// Nothing is shown while the expected and the elapsed time are shorter.
  private static let leastExpectedMilliseconds: Int64 = 1000

  init(_ rows: [Row], columns: Int, nowMilliseconds now: Int64) {
    self.rows = rows
    self.columns = columns
    nowMilliseconds = now
    let elapsed = rows.map { TextWidth.of(Self.elapsed($0, now)) }.max() ?? 0
    elapsedColumns = max(Self.leastElapsedColumns, elapsed)
    let names = rows.map { TextWidth.of($0.name) }.max() ?? 0
    let downloads = rows.compactMap { $0.running.download }
    let expected = rows.map { Self.expectation($0, now).width }.max() ?? 0
    let saysMore = expected > 0 || rows.contains { !$0.said.isEmpty || $0.question != nil }
    // Details need more room than the elapsed time alone.
    let most =
      downloads.isEmpty && !saysMore
      ? columns - 2 - elapsedColumns : max(10, min(columns / (downloads.isEmpty ? 3 : 4), 50))
    nameColumns = max(0, min(names, max(8, most)))
    hasEnds = downloads.contains { $0.totalBytes != nil }
    let machines = rows.map { TextWidth.of($0.machine) }.max() ?? 0
    var room = columns - nameColumns - 2 - elapsedColumns
    // Next to it, output still needs its room.
    let hasRoom = machines > 0 && room >= machines + 2 + (saysMore ? Self.leastSaidColumns : 0)
    machineColumns = hasRoom ? machines + 2 : 0
    room -= machineColumns
    if downloads.isEmpty {
      if expected == 0 || room < expected + 2 { return }
      expectedColumns = expected
      let bar = min(Self.mostBarColumns, max(Self.leastBarColumns, columns / 8))
      if room >= bar + Self.barEdges + expected + 2 + Self.leastSaidColumns { barColumns = bar }
      return
    }
    for detail in Detail.allCases where hasEnds || !detail.hasBar {
      let widest = downloads.map { text($0, detail).width }.max() ?? 0
      let least = detail.hasBar ? Self.leastBarColumns + Self.barEdges : 0
      self.detail = detail
      if widest + least > room { continue }
      if detail.hasBar { barColumns = min(Self.mostBarColumns, room - widest - Self.barEdges) }
      break
    }
    if expected + 2 + (barColumns > 0 ? barColumns + Self.barEdges : 0) <= room {
      expectedColumns = expected
    }
  }

  var lines: [StyledLine] {
    zip(rows, TextWidth.cutApart(rows.map(\.name), to: nameColumns)).map { row, name in
      var line = StyledLine()
      line.add(TextWidth.padded(name, to: nameColumns))
      let elapsed = Self.elapsed(row, nowMilliseconds)
      line.add("  " + TextWidth.rightAligned(elapsed, to: elapsedColumns), .dim)
      if machineColumns > 0 {
        line.add("  " + TextWidth.padded(row.machine, to: machineColumns - 2), .dim)
      }
      if row.isSuspended { line.add("  suspended", .yellow) }
      if row.isStopping { line.add("  stopping", .yellow) }
      if let question = row.question { line.add("  asks: \(question)", .yellow) }
      if let download = row.running.download {
        if barColumns > 0 { addBar(download, to: &line) }
        line.append(text(download, detail))
      } else if !row.isSuspended, row.question == nil {
        addExpectation(row, to: &line)
      }
      if !row.said.isEmpty, row.running.download == nil,
        columns - line.width >= Self.leastSaidColumns
      {
        line.add("  " + row.said, .dim)
      }
      return line
    }
  }

  private static func elapsed(_ row: Row, _ now: Int64) -> String {
    DurationText.text(milliseconds: now - row.running.startedMilliseconds)
  }

  // MARK: - Expected times

  /// Returns `of 30s`, or `12s over` for an overdue task.
  private static func expectation(_ row: Row, _ now: Int64) -> StyledLine {
    var line = StyledLine()
    let elapsed = max(0, now - row.running.startedMilliseconds)
    guard let expected = row.expectedMilliseconds,
      max(expected, elapsed) >= leastExpectedMilliseconds, row.running.download == nil
    else { return line }
    if isOver(elapsed, expected) {
      line.add("\(DurationText.text(wholeSeconds: (elapsed - expected) / 1000)) over", .yellow)
    } else {
      line.add("of \(DurationText.text(wholeSeconds: max(1, expected.plus(500) / 1000)))", .dim)
    }
    return line
  }

  /// Whether a task is overdue by more than durations vary from run to run.
  private static func isOver(_ elapsed: Int64, _ expected: Int64) -> Bool {
    elapsed - expected >= max(1000, expected / 10)
  }

  /// Spaces keep the columns aligned if nothing is expected.
  private func addExpectation(_ row: Row, to line: inout StyledLine) {
    let text = Self.expectation(row, nowMilliseconds)
    if text.width == 0, row.said.isEmpty { return }
    if barColumns > 0 {
      let elapsed = nowMilliseconds - row.running.startedMilliseconds
      let expected = row.expectedMilliseconds ?? 0
      if text.width == 0 {
        line.add(TextWidth.padded("", to: barColumns + Self.barEdges))
      } else {
        let done = max(0, min(elapsed, expected)) * Int64(barColumns) / max(1, expected)
        addBar(Int(done), Self.isOver(elapsed, expected) ? .yellow : .cyan, to: &line)
      }
    }
    if expectedColumns == 0 { return }
    line.add("  ")
    line.append(text)
    if !row.said.isEmpty { line.add(TextWidth.padded("", to: expectedColumns - text.width)) }
  }

  // MARK: - Downloads

  /// Spaces keep the columns aligned if the total is unknown.
  private func addBar(_ download: DownloadProgress, to line: inout StyledLine) {
    guard let done = download.fraction(of: barColumns) else {
      line.add(String(repeating: " ", count: barColumns + Self.barEdges))
      return
    }
    addBar(done, .cyan, to: &line)
  }

  private func addBar(_ done: Int, _ style: StyledLine.Style, to line: inout StyledLine) {
    let tip = done > 0 && done < barColumns ? 1 : 0
    line.add("  [")
    line.add(String(repeating: "=", count: done - tip) + (tip > 0 ? ">" : ""), style)
    line.add(String(repeating: " ", count: barColumns - done) + "]")
  }

  /// Returns the figures of a download, each in its columns, so that they do not jump.
  private func text(_ download: DownloadProgress, _ detail: Detail) -> StyledLine {
    let now = nowMilliseconds
    var line = StyledLine()
    if detail == .none { return line }
    let align = { (text: String, columns: Int) in
      "  " + TextWidth.rightAligned(text, to: columns)
    }
    let done = DownloadText.size(download.doneBytes)
    if let total = download.totalBytes, let percent = download.percent {
      line.add(align("\(percent)%", 4))
      if detail == .all { line.add(align("\(done)/\(DownloadText.size(total))", 17)) }
    } else if detail == .all {
      line.add(align("", 4) + align(done, 17))
    } else {
      // Without a total there is no more to show.
      line.add(align(done, detail == .percent ? 4 : 9))
    }
    if detail == .percent { return line }
    let pace = DownloadText.pace(download, atMilliseconds: now)
    if download.stalledMilliseconds(at: now) != nil {
      line.add("  \(pace[0])", .yellow)
    } else {
      if detail != .timeLeft { line.add(align(pace[0], 11)) }
      if !pace[1].isEmpty { line.add("  " + pace[1]) }
    }
    return line
  }
}
