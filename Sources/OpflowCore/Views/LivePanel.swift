/// A frame of the live view while somebody uses its keys: what `LiveFrame` draws, with what the mode adds, in
/// half of the terminal's rows as without.
struct LivePanel {
  let keys: LiveKeys
  let frame: LiveFrame
  /// The last bytes that tasks have printed, as far as the mode shows any.
  let tails: [TaskID: [UInt8]]

  private static let keyWords = [
    "t tails", "l follow a log", "p pause, continue", "c cancel a task", "a approve, reject",
    "+ - parallel", "? help",
  ]

  private var columns: Int { max(0, frame.size.columns - 1) }
  private var model: DriveModel { frame.model }
  /// Beside the counts and the message.
  private var room: Int { max(0, frame.size.rows / 2 - 2) }

  var lines: [StyledLine] {
    var lines: [StyledLine]
    switch keys.mode {
    case .plain: lines = frame.lines
    case .help: lines = Self.flow(Self.keyWords, columns) + frame.lines.suffix(1)
    case .tails: lines = withTails + frame.lines.suffix(1)
    case .following(let task): lines = following(task) + frame.lines.suffix(1)
    case .choosing(let purpose, let task):
      lines = choosing(purpose, task) + frame.lines.suffix(1)
    }
    if !keys.message.isEmpty { lines.append(Self.line(keys.message, .yellow)) }
    // Of a terminal with few rows the last lines are the ones that matter.
    return lines.suffix(max(1, frame.size.rows - 1)).map { $0.cut(to: columns) }
  }

  private static func line(_ text: String, _ style: StyledLine.Style) -> StyledLine {
    var line = StyledLine()
    line.add(TextWidth.expandingTabs(CleanText.string(text)), style)
    return line
  }

  /// Words in as few lines as they fit into.
  private static func flow(_ words: [String], _ columns: Int) -> [StyledLine] {
    var lines: [StyledLine] = []
    var text = ""
    for word in words {
      let longer = text.isEmpty ? word : "\(text) · \(word)"
      if !text.isEmpty, TextWidth.of(longer) > columns {
        lines.append(line(text, .cyan))
        text = word
      } else {
        text = longer
      }
    }
    return lines + [line(text, .cyan)]
  }

  /// Each task with the last line that it printed.
  private var withTails: [StyledLine] {
    if model.running.isEmpty { return [Self.line("nothing runs", .dim)] }
    return model.running.prefix(max(1, room / 2)).flatMap { running -> [StyledLine] in
      let last = LastLines.of(tails[running.task] ?? [], count: 1)
      return [frame.row(running)] + LineSlices(last).map { Self.printed($0) }
    }
  }

  private static func printed(_ line: ArraySlice<UInt8>) -> StyledLine {
    Self.line("  | \(String(decoding: line, as: UTF8.self))", .dim)
  }

  private func following(_ task: TaskID) -> [StyledLine] {
    let isRunning = model.running.contains { $0.task == task }
    let end = isRunning ? "" : ", which has ended"
    let title = Self.line("log of \(model.name(task))\(end) (Esc leaves)", .cyan)
    let last = LastLines.of(tails[task] ?? [], count: max(1, room - 1))
    return [title] + LineSlices(last).map { Self.printed($0) }
  }

  private func choosing(_ purpose: LiveKeys.Purpose, _ task: TaskID) -> [StyledLine] {
    let tasks = LiveKeys.candidates(purpose, model)
    let place = tasks.firstIndex(of: task)
    let rows = max(1, room - 1)
    let first = max(0, min((place ?? 0) - rows / 2, tasks.count - rows))
    let shown = tasks.dropFirst(first).prefix(rows).map { candidate -> StyledLine in
      var line = StyledLine()
      line.add(candidate == task ? "> " : "  ", .cyan)
      if let running = model.running.first(where: { $0.task == candidate }) {
        line.append(frame.row(running))
      }
      return line
    }
    let (question, hint) =
      switch purpose {
      case .follow: ("follow which log?", "Enter")
      case .cancel: ("cancel which?", "Enter cancels")
      case .answer: ("answer which?", "Enter approves, r rejects")
      }
    return shown + [Self.line("\(question) up, down, \(hint), Esc leaves", .cyan)]
  }
}
