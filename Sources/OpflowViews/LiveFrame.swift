internal import OpflowCore

/// The size of a terminal.
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
///     machines: 3 (n1 n2 n3)
///     [3/12] 4.0s, 2 running, 7 waiting, 3 to 5 min left
struct LiveFrame {
  let model: DriveModel
  let size: TerminalSize
  let nowMilliseconds: Int64
  /// Returns the expected duration of a task in milliseconds; nil if unknown.
  var expected: (TaskID) -> Int64? = { _ in nil }
  /// The time left as text; empty if unknown.
  var left = ""
  /// Whether the run ends without starting the waiting tasks.
  var isEnding = false
  /// The last bytes of tasks' output, if they are to be shown.
  var tails: [TaskID: [UInt8]] = [:]
  /// The runs that tasks have started, shown instead of their output.
  var inner: [TaskID: InnerRun] = [:]
  /// Whether to show the hint for the help key.
  var hasKeys = false

  /// The most tasks that are shown, however large the terminal is.
  static let mostTasks = 32
  /// Left empty at the right, because a full line makes some terminals wrap.
  static let spareColumns = 1

  private var columns: Int { max(0, size.columns - Self.spareColumns) }
  var rows: Int { max(1, size.rows / 2) }

  var lines: [StyledLine] {
    let families = rows < 4 ? nil : families
    // While nothing runs, the only news is what the run waits for.
    let machines = rows < (model.running.isEmpty ? 2 : families == nil ? 4 : 5) ? nil : machines
    let room = min(Self.mostTasks, rows - 1 - [families, machines].count { $0 != nil })
    var shown = model.running.count
    // "… and 1 more" takes as much room as that task.
    if shown > room { shown = max(0, room - 1) }
    // The oldest tasks need attention most.
    var lines = rowLines(model.running.prefix(shown), columns: columns)
    if room > 0, model.running.count > shown {
      var more = StyledLine()
      more.add("… and \(model.running.count - shown) more", .dim)
      lines.append(more)
    }
    if let families { lines.append(families) }
    if let machines { lines.append(machines) }
    lines.append(counts)
    return lines.map { $0.cut(to: columns) }
  }

  func rowLines(_ tasks: ArraySlice<DriveModel.RunningTask>, columns: Int) -> [StyledLine] {
    LiveRows(tasks.map(row), columns: columns, nowMilliseconds: nowMilliseconds).lines
  }

  private func row(_ running: DriveModel.RunningTask) -> LiveRows.Row {
    let task = running.task
    let isGate = model.plan.kind(task) == .approve
    return LiveRows.Row(
      running: running, name: model.name(task),
      question: isGate ? GateText.question(task, plan: model.plan) : nil,
      expectedMilliseconds: expected(task), isSuspended: model.isSuspended(task),
      isStopping: model.isStopping(task),
      machine: model.machines.machine(of: task).map { MachineText.name($0.host) } ?? "",
      said: inner[task]?.words ?? tails[task].map(Self.lastLine) ?? "")
  }

  /// Returns the last line that is not blank.
  private static func lastLine(_ tail: [UInt8]) -> String {
    for line in tail.split(separator: Field.lineFeed).reversed() {
      // The tail may begin within a character.
      let whole = line.drop { $0 & 0xC0 == 0x80 }
      let text = TextWidth.expandingTabs(CleanText.string(String(decoding: whole, as: UTF8.self)))
      if text.contains(where: { $0 != " " }) { return text }
    }
    return ""
  }

  /// The progress of the matrices with a running task; nil if there are none.
  private var families: StyledLine? {
    var parts: [String] = []
    var width = 0
    for family in model.runningFamilies {
      parts.append("\(CleanText.string(family.name)) \(family.ended)/\(family.total)")
      width += parts[parts.count - 1].utf8.count
      // More than fits.
      if width > 4 * columns { break }
    }
    if parts.isEmpty { return nil }
    var line = StyledLine()
    line.add(parts.joined(separator: ", "), .dim)
    return line
  }

  /// The nodes in use, and what the run waits for to get more; nil if there are neither.
  private var machines: StyledLine? {
    let machines = model.machines
    if !machines.areThere, machines.awaited.isEmpty { return nil }
    var line = StyledLine()
    for (_, what) in machines.awaited.sorted(by: { $0.key < $1.key }) {
      line.add(TextWidth.expandingTabs(CleanText.string(what)), .yellow)
      line.add(", ")
      // More than fits.
      if line.width > 4 * columns { break }
    }
    let list = MachineText.list(machines.hostsInUse, columns: max(0, columns - line.width - 20))
    line.add("machines: \(list)", .dim)
    for machine in machines.all where machine.state == .silent || machine.state == .leaving {
      let state = machine.state == .silent ? "says nothing" : "is about to go"
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
    /// Parts that do not fit are left out, the highest rank first.
    let rank: Int

    init(
      _ text: String, _ style: StyledLine.Style = .plain, rank: Int, after separator: String = ", "
    ) {
      self.separator = separator
      self.text = text
      self.style = style
      self.rank = rank
    }
  }

  /// The parts that fit, each of them whole: a cut number would be wrong.
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

  /// In display order.
  private var words: [Word] {
    let suspended = model.suspendedCount
    let elapsed = DurationText.text(milliseconds: nowMilliseconds - model.beganMilliseconds)
    var words = [
      Word("[\(model.finished)/\(model.total)]", .dim, rank: 0, after: ""),
      Word(elapsed, rank: 3, after: " "),
    ]
    if model.counts.failed > 0 {
      words.append(Word("\(model.counts.failed) failed", .red, rank: 1))
    }
    if model.isStopped {
      words.append(Word("suspended by a signal", .yellow, rank: 2))
    } else if let pause = model.orders.pausedBy {
      words.append(Word("paused", .yellow, rank: 2))
      words.append(Word("by \(CleanText.string(pause.asker.name))", .yellow, rank: 8, after: " "))
    }
    words.append(Word("\(model.running.count - suspended) running", rank: 6))
    if suspended > 0 { words.append(Word("\(suspended) suspended", .yellow, rank: 5)) }
    if model.notStarted > 0 {
      words.append(
        isEnding
          ? Word("then it ends", .yellow, rank: 2)
          : Word("\(model.notStarted) waiting", rank: 7))
    }
    if !left.isEmpty { words.append(Word(left, rank: 4)) }
    if hasKeys { words.append(Word("(? helps)", .dim, rank: 9, after: "  ")) }
    return words
  }
}
