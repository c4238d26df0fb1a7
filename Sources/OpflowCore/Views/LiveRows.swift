/// The rows of running tasks, in columns that are the same for all: what one row has no room for is
/// left out in every row.
struct LiveRows {
  private typealias Task = DriveModel.RunningTask

  /// What is told of downloads, from most to least.
  private enum Detail: CaseIterable {
    case all, withoutBytes, withoutBar, timeLeft, percent, none

    var hasBar: Bool { self == .all || self == .withoutBytes }
  }

  private let tasks: [(task: DriveModel.RunningTask, name: String, question: String?)]
  private let nowMilliseconds: Int64
  private let nameColumns: Int
  private let elapsedColumns: Int
  private var detail = Detail.none
  private var barColumns = 0
  /// Of some download it is known how much there is.
  private let hasEnds: Bool

  private static let leastElapsedColumns = 6
  private static let leastBarColumns = 8
  private static let mostBarColumns = 24
  /// Blanks and brackets around a bar.
  private static let barEdges = 4

  init(
    _ tasks: [(DriveModel.RunningTask, String, question: String?)], columns: Int,
    nowMilliseconds now: Int64
  ) {
    self.tasks = tasks.map { ($0.0, $0.1, $0.question) }
    nowMilliseconds = now
    let elapsed = tasks.map { TextWidth.of(Self.elapsed($0.0, now)) }.max() ?? 0
    elapsedColumns = max(Self.leastElapsedColumns, elapsed)
    let names = tasks.map { TextWidth.of($0.1) }.max() ?? 0
    let downloads = tasks.compactMap { $0.0.download }
    // What there is to tell of a download needs more room than a time.
    let most =
      downloads.isEmpty ? columns - 2 - elapsedColumns : max(10, min(columns / 4, 50))
    nameColumns = max(0, min(names, max(8, most)))
    hasEnds = downloads.contains { $0.totalBytes != nil }
    if downloads.isEmpty { return }
    let room = columns - nameColumns - 2 - elapsedColumns
    for detail in Detail.allCases where hasEnds || !detail.hasBar {
      let widest = downloads.map { text($0, detail).width }.max() ?? 0
      let least = detail.hasBar ? Self.leastBarColumns + Self.barEdges : 0
      self.detail = detail
      if widest + least > room { continue }
      if detail.hasBar { barColumns = min(Self.mostBarColumns, room - widest - Self.barEdges) }
      break
    }
  }

  var lines: [StyledLine] {
    tasks.map { task, name, question in
      var line = StyledLine()
      line.add(
        TextWidth.padded(TextWidth.cutMiddle(name, to: nameColumns), to: nameColumns))
      let elapsed = Self.elapsed(task, nowMilliseconds)
      line.add("  " + TextWidth.rightAligned(elapsed, to: elapsedColumns), .dim)
      if let question { line.add("  asks: \(question)", .yellow) }
      if let download = task.download {
        if barColumns > 0 { addBar(download, to: &line) }
        line.append(text(download, detail))
      }
      return line
    }
  }

  private static func elapsed(_ task: DriveModel.RunningTask, _ now: Int64) -> String {
    DurationText.text(milliseconds: now - task.startedMilliseconds)
  }

  /// Blanks where the end is unknown, so that what follows keeps its columns.
  private func addBar(_ download: DownloadProgress, to line: inout StyledLine) {
    guard let done = download.fraction(of: barColumns) else {
      line.add(String(repeating: " ", count: barColumns + Self.barEdges))
      return
    }
    let tip = done > 0 && done < barColumns ? 1 : 0
    line.add("  [")
    line.add(String(repeating: "=", count: done - tip) + (tip > 0 ? ">" : ""), .cyan)
    line.add(String(repeating: " ", count: barColumns - done) + "]")
  }

  /// The numbers of a download, each in its columns, or they would jump about.
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
      // Of what has no end that is all there is to tell.
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
