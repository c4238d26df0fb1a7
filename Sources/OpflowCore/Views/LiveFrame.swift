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
///     test 7/12, build 3/4
///     [3/12] 4.0s, 2 running, 7 waiting
struct LiveFrame {
  let model: DriveModel
  let size: TerminalSize
  let nowMilliseconds: Int64

  private static let maxTasks = 16
  /// The window is as wide as this line: nothing stands in its last column.
  private static let spareColumns = 1

  /// Narrower than the terminal, since a full line makes some terminals wrap; at most as many as it
  /// has rows.
  var lines: [StyledLine] {
    let room = size.rows < 3 ? 0 : min(Self.maxTasks, max(1, size.rows / 2))
    var shown = model.running.count
    // "… and 1 more" takes as much room as that one.
    if shown > room { shown = max(0, room - 1) }
    let columns = max(0, size.columns - Self.spareColumns)
    // The oldest tasks are the ones to wonder about.
    let tasks = Array(model.running.prefix(shown))
    let layout = LiveRows(
      tasks.map { ($0, model.name($0.task), question: question($0.task)) }, columns: columns,
      nowMilliseconds: nowMilliseconds)
    var lines = layout.lines
    if room > 0, model.running.count > shown {
      var more = StyledLine()
      more.add("… and \(model.running.count - shown) more", .dim)
      lines.append(more)
    }
    if room > 1, let families { lines.append(families) }
    lines.append(counts)
    return lines.map { $0.cut(to: columns) }
  }

  /// The line of one task that runs.
  func row(_ task: DriveModel.RunningTask) -> StyledLine {
    LiveRows(
      [(task, model.name(task.task), question: question(task.task))],
      columns: max(0, size.columns - Self.spareColumns), nowMilliseconds: nowMilliseconds
    ).lines[0]
  }

  /// What a task asks that is a gate.
  private func question(_ task: TaskID) -> String? {
    model.plan.kind(task) == .approve ? GateText.question(task, plan: model.plan) : nil
  }

  /// How far families are of which a leg runs; nil for none.
  private var families: StyledLine? {
    let families = model.runningFamilies
    if families.isEmpty { return nil }
    var line = StyledLine()
    let parts = families.map { "\(CleanText.string($0.name)) \($0.ended)/\($0.total)" }
    line.add(parts.joined(separator: ", "), .dim)
    return line
  }

  private var counts: StyledLine {
    let suspended = model.running.count { model.isSuspended($0.task) }
    var line = StyledLine()
    line.add("[\(model.finished)/\(model.total)]", .dim)
    line.add(" \(DurationText.text(milliseconds: nowMilliseconds - model.beganMilliseconds))")
    if model.counts.failed > 0 {
      line.add(", ")
      line.add("\(model.counts.failed) failed", .red)
    }
    if let pause = model.orders.pausedBy {
      line.add(", ")
      line.add("paused by \(CleanText.string(pause.asker.name))", .yellow)
    }
    line.add(", \(model.running.count - suspended) running")
    if suspended > 0 {
      line.add(", ")
      line.add("\(suspended) suspended", .yellow)
    }
    if model.notStarted > 0 { line.add(", \(model.notStarted) waiting") }
    return line
  }
}
