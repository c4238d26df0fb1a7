internal import OpflowBase
internal import OpflowJournal
internal import OpflowPlan

package struct TerminalSize: Equatable, Sendable {
  package var columns: Int
  package var rows: Int

  package init(columns: Int, rows: Int) {
    self.columns = max(1, columns)
    self.rows = max(1, rows)
  }
}

/// The content of a live view: a line per running task, as far as they fit, and the counts. It
/// takes at most half of the terminal's rows.
///
///     fetch    3.2s  [=======>            ]   38%   76.0MiB/200.0MiB    24.1MiB/s  5s left
///     compile  1.1s  [=====>              ]  of 4s  src/main.c
///     test 7/12, build 3/4
///     nodes: 3 (n1 n2 n3)
///     [3/12] 4.0s, 2 running, 7 pending, 3 to 5 min left
struct LiveFrame {
  let model: SessionModel
  let size: TerminalSize
  let nowMilliseconds: Int64
  /// In milliseconds.
  var expected: (TaskID) -> Int64? = { _ in nil }
  var left = ""
  var isEnding = false
  var tails: [TaskID: [UInt8]] = [:]
  /// Shown instead of output.
  var inner: [TaskID: InnerRun] = [:]
  var hasKeys = false

  static let mostTasks = 32
  /// Empty columns at the right, because a full line makes some terminals wrap.
  static let spareColumns = 1

  private var columns: Int { max(0, size.columns - Self.spareColumns) }
  var rows: Int { max(1, size.rows / 2) }

  var lines: [StyledLine] {
    let matrixGroups = rows < 4 ? nil : matrixGroups
    // Without running tasks, the wait for nodes is the only news.
    let machines = rows < (model.running.isEmpty ? 2 : matrixGroups == nil ? 4 : 5) ? nil : machines
    let room = min(Self.mostTasks, rows - 1 - [matrixGroups, machines].count { $0 != nil })
    var shown = model.running.count
    // "… and 1 more" takes as much room as that task.
    if shown > room { shown = max(0, room - 1) }
    var lines = rowLines(model.running.prefix(shown), columns: columns)
    if room > 0, model.running.count > shown {
      var more = StyledLine()
      more.add("… and \(model.running.count - shown) more", .dim)
      lines.append(more)
    }
    if let matrixGroups { lines.append(matrixGroups) }
    if let machines { lines.append(machines) }
    lines.append(counts)
    return lines.map { $0.cut(to: columns) }
  }

  func rowLines(_ tasks: ArraySlice<SessionModel.RunningTask>, columns: Int) -> [StyledLine] {
    LiveRows(tasks.map(row), columns: columns, nowMilliseconds: nowMilliseconds).lines
  }

  private func row(_ running: SessionModel.RunningTask) -> LiveRows.Row {
    let task = running.task
    let isApproval = model.plan.kind(task) == .approve
    return LiveRows.Row(
      running: running, name: model.name(task),
      question: isApproval ? ApprovalText.question(task, plan: model.plan) : nil,
      expectedMilliseconds: expected(task), isSuspended: model.isSuspended(task),
      isStopping: model.isStopping(task),
      machine: model.machines.machine(of: task).map { MachineText.name($0.host) } ?? "",
      said: inner[task]?.words ?? tails[task].map(Self.lastLine) ?? "")
  }

  private static func lastLine(_ tail: [UInt8]) -> String {
    for line in tail.split(separator: Field.lineFeed).reversed() {
      // The tail may begin within a character.
      let whole = line.drop { $0 & 0xC0 == 0x80 }
      let text = TextWidth.expandingTabs(CleanText.string(String(decoding: whole, as: UTF8.self)))
      if text.contains(where: { $0 != " " }) { return text }
    }
    return ""
  }

  private var matrixGroups: StyledLine? {
    var parts: [String] = []
    var width = 0
    for matrixGroup in model.runningMatrixGroups {
      parts.append(
        "\(CleanText.string(matrixGroup.name)) \(matrixGroup.ended)/\(matrixGroup.total)")
      width += parts[parts.count - 1].utf8.count
      if width > 4 * columns { break }
    }
    if parts.isEmpty { return nil }
    var line = StyledLine()
    line.add(parts.joined(separator: ", "), .dim)
    return line
  }

  private var machines: StyledLine? {
    let machines = model.machines
    if !machines.areThere, machines.awaited.isEmpty { return nil }
    var line = StyledLine()
    for (_, detail) in machines.awaited.sorted(by: { $0.key < $1.key }) {
      line.add(TextWidth.expandingTabs(CleanText.string(detail)), .yellow)
      line.add(", ")
      if line.width > 4 * columns { break }
    }
    let list = MachineText.list(machines.hostsInUse, columns: max(0, columns - line.width - 20))
    line.add("nodes: \(list)", .dim)
    for machine in machines.all where machine.state == .silent || machine.state == .leaving {
      let state = StatusMachines.word(machine.state)
      line.add(", \(MachineText.name(machine.host)) \(state)", .yellow)
      if line.width > 4 * columns { break }
    }
    return line
  }

  // MARK: - Counts

  private struct Word {
    let separator: String
    let text: String
    let style: StyledLine.Style
    /// Parts that do not fit are omitted, the highest rank first.
    let rank: Int
  }

  /// Omits whole parts: a cut number would be wrong.
  private var counts: StyledLine {
    var words = words
    var line = Self.line(words)
    while line.width > columns,
      let least = words.indices.max(by: { words[$0].rank < words[$1].rank }), words[least].rank > 0
    {
      words.remove(at: least)
      line = Self.line(words)
    }
    return line
  }

  private static func line(_ words: [Word]) -> StyledLine {
    var line = StyledLine()
    for word in words {
      line.add(word.separator)
      line.add(word.text, word.style)
    }
    return line
  }

  /// Approvals that wait for an answer.
  private var askingCount: Int {
    if !model.plan.hasApprovals { return 0 }
    return model.running.count {
      model.plan.kind($0.task) == .approve && !model.isSuspended($0.task)
    }
  }

  private var words: [Word] {
    var words: [Word] = []
    func add(
      _ text: String, _ style: StyledLine.Style = .plain, rank: Int, after separator: String = ", "
    ) {
      words.append(Word(separator: separator, text: text, style: style, rank: rank))
    }
    let (failed, suspended) = (model.counts.failed, model.suspendedCount)
    add("[\(model.finished)/\(model.total)]", .dim, rank: 0, after: "")
    let elapsed = nowMilliseconds - model.beganMilliseconds
    add(DurationText.text(milliseconds: elapsed), rank: 3, after: " ")
    if failed > 0 { add("\(failed) failed", .red, rank: 1) }
    if model.isStopped {
      add("suspended by a signal", .yellow, rank: 2)
    } else if let pause = model.requests.pausedBy {
      add("paused", .yellow, rank: 2)
      add("by \(CleanText.string(pause.requester.name))", .yellow, rank: 8, after: " ")
    }
    let asking = askingCount
    add("\(model.running.count - suspended - asking) running", rank: 6)
    if suspended > 0 { add("\(suspended) suspended", .yellow, rank: 5) }
    if asking > 0 { add("\(asking) waiting for approval", .yellow, rank: 5) }
    if model.notStarted > 0, isEnding {
      add("then the run ends", .yellow, rank: 2)
    } else if model.notStarted > 0 {
      add("\(model.notStarted) pending", rank: 7)
    }
    if !left.isEmpty { add(left, rank: 4) }
    if hasKeys { add("(? for help)", .dim, rank: 9, after: "  ") }
    return words
  }
}

/// Details that do not fit one row are omitted in all.
struct LiveRows {
  struct Row {
    var running: SessionModel.RunningTask
    var name: String
    var question: String?
    var expectedMilliseconds: Int64?
    var isSuspended = false
    var isStopping = false
    var machine = ""
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
  /// Includes two spaces; 0 if the column is empty or does not fit.
  private let machineColumns: Int
  private var detail = Detail.none
  private var barColumns = 0
  private var expectedColumns = 0
  private let hasEnds: Bool

  private static let leastElapsedColumns = 6
  private static let leastBarColumns = 8
  private static let mostBarColumns = 24
  private static let barEdges = 4
  private static let leastSaidColumns = 12
  /// Shorter times are not shown.
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
    // Details need more room than the elapsed time.
    let most =
      downloads.isEmpty && !saysMore
      ? columns - 2 - elapsedColumns : max(10, min(columns / (downloads.isEmpty ? 3 : 4), 50))
    nameColumns = max(0, min(names, max(8, most)))
    hasEnds = downloads.contains { $0.totalBytes != nil }
    let machines = rows.map { TextWidth.of($0.machine) }.max() ?? 0
    var room = columns - nameColumns - 2 - elapsedColumns
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
      if let question = row.question { line.add("  asks for approval: \(question)", .yellow) }
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

  /// `of 30s`, or `12s over` for an overdue task.
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

  /// Overdue by more than durations vary from run to run.
  private static func isOver(_ elapsed: Int64, _ expected: Int64) -> Bool {
    elapsed - expected >= max(1000, expected / 10)
  }

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

  /// Each figure has its columns, so that it does not jump.
  private func text(_ download: DownloadProgress, _ detail: Detail) -> StyledLine {
    let now = nowMilliseconds
    var line = StyledLine()
    if detail == .none { return line }
    let align = { (text: String, columns: Int) in "  " + TextWidth.rightAligned(text, to: columns) }
    let done = DownloadText.size(download.doneBytes)
    if let total = download.totalBytes, let percent = download.percent {
      line.add(align("\(percent)%", 4))
      if detail == .all { line.add(align("\(done)/\(DownloadText.size(total))", 17)) }
    } else if detail == .all {
      line.add(align("", 4) + align(done, 17))
    } else {
      line.add(align(done, detail == .percent ? 4 : 9))
    }
    if detail == .percent { return line }
    let throughput = DownloadText.throughput(download, atMilliseconds: now)
    if download.stalledMilliseconds(at: now) != nil {
      line.add("  \(throughput[0])", .yellow)
    } else {
      if detail != .timeLeft { line.add(align(throughput[0], 11)) }
      if !throughput[1].isEmpty { line.add("  " + throughput[1]) }
    }
    return line
  }
}

struct FoldedInstances {
  var first: Int
  var tasks: [TaskID]

  static func of(_ starts: [TaskID], _ plan: Plan) -> [MatrixGroupID: FoldedInstances] {
    if plan.matrixGroups.isEmpty { return [:] }
    var folds: [MatrixGroupID: FoldedInstances] = [:]
    for (index, task) in starts.enumerated() {
      guard let matrixGroup = plan.matrixGroup(of: task) else { continue }
      folds[matrixGroup, default: FoldedInstances(first: index, tasks: [])].tasks.append(task)
    }
    return folds.filter { $0.value.tasks.count > 1 }
  }

  private static let mostReasons = 1000

  /// A cell that differs between tasks is empty, but `why` shows the most common reason and counts
  /// the others.
  func cells(_ plan: Plan, why: Int, _ cells: (TaskID) -> [String]) -> [String] {
    var common = cells(tasks[0])
    guard tasks.count > 1 else { return common }
    var reasons = [common[why]]
    for task in tasks.dropFirst().prefix(Self.mostReasons) {
      let own = cells(task)
      reasons.append(own[why])
      for (column, cell) in own.enumerated() where cell != common[column] {
        common[column] = ""
      }
    }
    common[0] = name(plan)
    common[why] = Self.commonest(reasons, areAll: reasons.count == tasks.count)
    return common
  }

  /// `input in/1 changed; 2 have other reasons`, without the number if `reasons` does not
  /// cover all tasks. Empty if all reasons are.
  static func commonest(_ reasons: [String], areAll: Bool) -> String {
    var counts: [String: Int] = [:]
    for reason in reasons where !reason.isEmpty { counts[reason, default: 0] += 1 }
    guard let most = counts.values.max(), let first = reasons.first(where: { counts[$0] == most })
    else { return "" }
    let others = reasons.count - most
    if others == 0 { return first }
    if !areAll { return "\(first); others have other reasons" }
    return "\(first); \(others == 1 ? "1 task has another reason" : "\(others) have other reasons")"
  }

  func name(_ plan: Plan) -> String {
    guard tasks.count > 1, let matrixGroup = plan.matrixGroup(of: tasks[0]) else {
      return plan.nameString(tasks[0])
    }
    let count = plan.instances(matrixGroup).count
    let instances = tasks.count == count ? "\(count)" : "\(tasks.count) of \(count)"
    return "\(plan.matrixGroupName(matrixGroup)) (\(instances) tasks)"
  }
}

enum TimeLeft {
  /// Chooses the unit by the upper bound, and rounds outward.
  static func text(milliseconds range: ClosedRange<Int64>) -> String {
    let unit = units.last { $0.from <= range.upperBound } ?? units[0]
    let low = range.lowerBound / unit.step
    let high = max(1, (range.upperBound + unit.step - 1) / unit.step)
    let end = "\(unit.text(high)) \(unit.name) left"
    if low == 0 { return "under \(end)" }
    return low == high ? "about \(end)" : "\(unit.text(low)) to \(end)"
  }

  private struct Unit {
    let name: String
    let length: Int64
    /// Times are rounded to this step in milliseconds: the length, a part or a multiple of it.
    let step: Int64
    let from: Int64

    /// `40`, `1.5`.
    func text(_ steps: Int64) -> String {
      let time = steps * step
      return "\(time / length)" + (time % length == 0 ? "" : ".5")
    }
  }

  private static let second: Int64 = 1000
  private static let minute = 60 * second
  private static let hour = 60 * minute
  private static let day = 24 * hour

  private static let units = [
    Unit(name: "s", length: second, step: second, from: 0),
    Unit(name: "s", length: second, step: 5 * second, from: 20 * second),
    Unit(name: "min", length: minute, step: minute, from: 90 * second),
    Unit(name: "h", length: hour, step: hour / 2, from: 90 * minute),
    Unit(name: "h", length: hour, step: hour, from: 10 * hour),
    Unit(name: "days", length: day, step: day / 2, from: 2 * day),
  ]
}
