internal import OpflowCore

/// A frame of the live view while its keys are on: `LiveFrame`, and what the mode adds, still
/// within half of the terminal's rows.
struct LivePanel {
  let keys: LiveKeys
  let frame: LiveFrame
  let tails: [TaskID: [UInt8]]

  private static let keyWords = [
    "t tails", "l follow a log", "p pause, continue", "c cancel a task", "a approve, reject",
    "+ - parallel", "? help", "Esc leaves",
  ]

  private var columns: Int { max(0, frame.size.columns - LiveFrame.spareColumns) }
  private var model: DriveModel { frame.model }
  /// The rows left by the counts and the message.
  private var room: Int { max(0, frame.rows - (keys.message.isEmpty ? 1 : 2)) }

  var lines: [StyledLine] {
    var frame = frame
    frame.hasKeys = keys.mode == .plain
    let plain = frame.lines
    var lines: [StyledLine]
    switch keys.mode {
    case .plain: lines = plain
    case .help: lines = Self.flow(Self.keyWords, columns) + plain.suffix(1)
    case .tails: lines = withTails + plain.suffix(1)
    case .following(let task): lines = following(task) + plain.suffix(1)
    case .choosing(let purpose, let task):
      // The task that Enter selects must be visible.
      lines = choosing(purpose, task) + (frame.rows < 3 ? [] : plain.suffix(1))
    case .confirming(let purpose, let task): lines = plain + [confirming(purpose, task)]
    }
    if !keys.message.isEmpty { lines.append(Self.line(keys.message, .yellow)) }
    // If rows are few, the last lines matter most.
    return lines.suffix(frame.rows).map { $0.cut(to: columns) }
  }

  private static func line(_ text: String, _ style: StyledLine.Style) -> StyledLine {
    var line = StyledLine()
    line.add(TextWidth.expandingTabs(CleanText.string(text)), style)
    return line
  }

  private static func flow(_ words: [String], _ columns: Int) -> [StyledLine] {
    var lines: [StyledLine] = []
    var text = ""
    for word in words {
      let longer = text.isEmpty ? word : "\(text) · \(word)"
      if !text.isEmpty, TextWidth.of(longer) > columns {
        lines.append(line(text, .plain))
        text = word
      } else {
        text = longer
      }
    }
    return lines + [line(text, .plain)]
  }

  /// Each task with its last lines of output, as many as fit, and the number of tasks left out.
  private var withTails: [StyledLine] {
    if model.running.isEmpty { return [Self.line("nothing runs", .dim)] }
    var tasks = model.running.prefix(max(1, room / 2))
    // That number takes a line.
    let isCut = model.running.count > tasks.count && room > 1
    if isCut { tasks = model.running.prefix(max(1, (room - 1) / 2)) }
    let count = min(Self.mostTailLines, max(1, (isCut ? room - 1 : room) / tasks.count - 1))
    let rows = plainFrame.rowLines(tasks, columns: columns)
    let lines = zip(tasks, rows).flatMap { running, row in
      let last = LastLines.of(tails[running.task] ?? [], count: count)
      return [row] + LineSlices(last).map { Self.printed($0) }
    }
    if !isCut { return lines }
    return lines.prefix(room - 1)
      + [Self.line("… and \(model.running.count - tasks.count) more", .dim)]
  }

  private static let mostTailLines = 5

  /// Without tails in the rows, because the output is printed below them.
  private var plainFrame: LiveFrame {
    var frame = frame
    frame.tails = [:]
    return frame
  }

  private static func printed(_ line: ArraySlice<UInt8>) -> StyledLine {
    Self.line("  | \(String(decoding: line, as: UTF8.self))", .dim)
  }

  private func following(_ task: TaskID) -> [StyledLine] {
    let isRunning = model.running.contains { $0.task == task }
    let end = isRunning ? "" : ", which has ended"
    let title = Self.line("log of \(model.name(task))\(end) (Esc leaves)", .plain)
    let last = LastLines.of(tails[task] ?? [], count: max(1, room - 1))
    return [title] + LineSlices(last).map { Self.printed($0) }
  }

  private func choosing(_ purpose: LiveKeys.Purpose, _ task: TaskID) -> [StyledLine] {
    let tasks = keys.candidates(purpose, model)
    let place = tasks.firstIndex(of: task)
    let rows = max(1, room - 1)
    let first = max(0, min((place ?? 0) - rows / 2, tasks.count - rows))
    let shown = tasks.dropFirst(first).prefix(rows)
    let running = model.running.filter { shown.contains($0.task) }
    // Leaves two columns for the mark.
    let texts = frame.rowLines(running[...], columns: max(0, columns - 2))
    let marked = zip(running, texts).map { running, text -> StyledLine in
      var line = StyledLine()
      line.add(running.task == task ? "> " : "  ")
      line.append(text)
      return line
    }
    let question =
      switch purpose {
      case .follow: "follow which log?"
      case .cancel: "cancel which?"
      case .answer: "answer which?"
      }
    let found = tasks.isEmpty ? "no running task matches" : "up, down, Enter, Esc leaves"
    let search = keys.search.isEmpty ? "letters search" : "search: \(keys.search)"
    return marked + [Self.line("\(question) \(search); \(found)", .plain)]
  }

  private func confirming(_ purpose: LiveKeys.Purpose, _ task: TaskID) -> StyledLine {
    let name = model.name(task)
    return switch purpose {
    case .answer:
      Self.line("answer \(name)? y approves, r rejects, any other key goes back", .yellow)
    case .cancel, .follow:
      Self.line("cancel \(name)? y cancels, any other key keeps it running", .yellow)
    }
  }
}
