internal import OpflowBase
internal import OpflowJournal
internal import OpflowPlan

/// Prints progress as lines that stay.
struct ProgressLines {
  enum Style {
    /// A line for each start and end, and each line of output after `ID | `.
    case lines
    /// A line when a task starts, and a block with the kept output when a try ends.
    case groups(GroupFolding)
    /// What stays above the live view: the heading, and what goes wrong.
    case live
    /// Only failures, and approvals that wait for an answer.
    case quiet
  }

  private let style: Style
  private let palette: Palette
  private let heading: ProgressHeading
  private let line: TransitionLine
  private let isVerbose: Bool
  private var reruns: RerunLines
  private var stillRunning: StillRunning
  /// When each download's progress was last printed.
  private var told: [TaskID: Int64] = [:]
  /// Since when downloads have stalled, if that was printed.
  private var stalled: [TaskID: Int64] = [:]

  init(_ style: Style, palette: Palette, heading: ProgressHeading, isVerbose: Bool) {
    self.style = style
    self.palette = palette
    self.heading = heading
    self.isVerbose = isVerbose
    line = TransitionLine(palette: palette)
    reruns = RerunLines(line)
    stillRunning = StillRunning(palette: palette)
  }

  /// Whether it shows the last output of a try at its end.
  var showsTails: Bool { folding.map { !$0.showsLogs } ?? false }

  /// Whether it shows the whole output of a try at its end.
  var showsLogs: Bool { folding?.showsLogs ?? false }

  private var folding: GroupFolding? {
    if case .groups(let folding) = style { folding } else { nil }
  }

  private var isLines: Bool { if case .lines = style { true } else { false } }

  /// Whether it prints neither requests nor waits for nodes. The loss of a node is always printed.
  var isQuiet: Bool { if case .quiet = style { true } else { false } }

  /// Whether it prints little but failures, so that these stay close together, and reports no
  /// silence, for which others need `tick` while tasks run.
  var tellsFailuresOnly: Bool {
    switch style {
    case .lines, .groups: false
    case .live, .quiet: true
    }
  }

  func begin(_ model: SessionModel, into text: inout TextBuffer) {
    if !isQuiet { heading.write(model, palette, into: &text) }
  }

  /// Lists the running tasks after a view joined a session, unless a frame shows them.
  func join(_ model: SessionModel, atMilliseconds now: Int64, into text: inout TextBuffer) {
    if isLines { line.writeHold(model, into: &text) }
    if !tellsFailuresOnly { stillRunning.tell(model, atMilliseconds: now, into: &text) }
  }

  /// - Parameter kept: the last bytes of output if the transition ends a try.
  mutating func transition(
    _ transition: Transition, kept: [UInt8], _ model: SessionModel, into text: inout TextBuffer
  ) {
    if isQuiet { return writeQuiet(transition, kept, model, into: &text) }
    if transition.event.kind == .resume { return reruns.add(transition, model, into: &text) }
    reruns.end(into: &text)
    switch style {
    case .lines: writeLine(transition, model, into: &text)
    case .groups(let folding): writeGroup(transition, kept, model, folding, into: &text)
    case .live: writeLive(transition, kept, model, into: &text)
    case .quiet: break
    }
  }

  mutating func tick(
    _ model: SessionModel, toldLines: Int, atMilliseconds now: Int64, into text: inout TextBuffer
  ) {
    if tellsFailuresOnly { return }
    if isLines { tellStalled(model, atMilliseconds: now, into: &text) }
    stillRunning.tick(model, toldLines: toldLines, atMilliseconds: now, into: &text)
  }

  // MARK: - Lines

  private mutating func writeLine(
    _ transition: Transition, _ model: SessionModel, into text: inout TextBuffer
  ) {
    if transition.endsTry {
      told[transition.task] = nil
      stalled[transition.task] = nil
    }
    line.write(transition, model, into: &text)
    line.writeLeft(transition, into: &text)
    if isVerbose { line.writeAction(transition, model, into: &text) }
    line.writeAnswer(transition, model, heading, into: &text)
    guard transition.event == .failure else { return }
    heading.writeSource(of: transition, plan: model.plan, palette, into: &text)
    if transition.outcome.usage.outputBytes > 0 {
      text.add("  ")
      heading.writeLog(transition.task, plan: model.plan, into: &text)
      text.endLine()
    }
    line.writeLimit(transition, model, heading, into: &text)
  }

  func outputLine(
    _ task: TaskID, _ line: UnsafeRawBufferPointer, _ model: SessionModel,
    into text: inout TextBuffer
  ) {
    if !isLines { return }
    if palette.isOn {
      text.add(palette.dim("\(model.name(task)) | "))
    } else {
      text.add(model.plan.nameBytes(task))
      text.add(" | ")
    }
    text.addOutput(line, palette)
    text.endLine()
  }

  func skipped(
    _ task: TaskID, bytes: Int64, lines: Int?, _ model: SessionModel, into text: inout TextBuffer
  ) {
    if !isLines { return }
    let amount =
      switch lines {
      case 1: "1 line"
      case let lines?: "\(CountText.grouped(lines)) lines"
      case nil: SizeText.steady(bytes: UInt64(max(0, bytes)))
      }
    text.add(palette.dim("\(model.name(task)) | "))
    text.add(palette.dim("… \(amount) not shown, see "))
    text.addCleaned(heading.logPath(task, model.plan))
    text.endLine()
  }

  /// Prints a first line after a second, so that short downloads have none, then fewer and fewer.
  mutating func download(
    _ running: SessionModel.RunningTask, _ progress: DownloadProgress, _ model: SessionModel,
    atMilliseconds now: Int64, into text: inout TextBuffer
  ) {
    if !isLines { return }
    let elapsed = now - running.startedMilliseconds
    let last = told[running.task]
    if let since = stalled.removeValue(forKey: running.task) {
      told[running.task] = now
      line.writeRecovery(
        running.task, progress, model, stalledMilliseconds: now - since, into: &text)
      return
    }
    let wait: Int64 =
      switch elapsed {
      case ..<60_000: 5000
      case ..<600_000: 30_000
      default: 60_000
      }
    guard last.map({ now - $0 >= wait }) ?? (elapsed >= 1000) else { return }
    told[running.task] = now
    line.writeDownload(
      running.task, progress, model, atMilliseconds: now, tellsResume: last == nil, into: &text)
  }

  private mutating func tellStalled(
    _ model: SessionModel, atMilliseconds now: Int64, into text: inout TextBuffer
  ) {
    for running in model.running where stalled[running.task] == nil {
      guard let progress = running.download, !model.isSuspended(running.task),
        progress.stalledMilliseconds(at: now) != nil
      else { continue }
      stalled[running.task] = progress.toldMilliseconds
      told[running.task] = now
      line.writeDownload(
        running.task, progress, model, atMilliseconds: now, tellsResume: false, into: &text)
    }
  }

  // MARK: - Groups

  private func writeGroup(
    _ transition: Transition, _ kept: [UInt8], _ model: SessionModel, _ folding: GroupFolding,
    into text: inout TextBuffer
  ) {
    var title = TextBuffer()
    title.breaksCommands = text.breaksCommands
    line.write(transition, model, into: &title)
    if title.isEmpty { return }
    let hasOutput = !kept.isEmpty || text.log != nil
    let fold = !hasOutput ? nil : folding.fold(transition, model)
    if let fold { fold.begin(title.bytes, into: &text) } else { text.add(title.bytes) }
    line.writeLeft(transition, into: &text)
    if isVerbose { line.writeAction(transition, model, into: &text) }
    heading.writeSource(of: transition, plan: model.plan, palette, into: &text)
    line.writeAnswer(transition, model, heading, into: &text)
    if text.log != nil { text.placeLog() } else { write(kept, of: transition, model, into: &text) }
    if let fold { fold.end(into: &text) } else if hasOutput { text.endLine() }
    line.writeLimit(transition, model, heading, into: &text)
  }

  private func write(
    _ kept: [UInt8], of transition: Transition, _ model: SessionModel, into text: inout TextBuffer
  ) {
    let start = text.bytes.count
    for line in LineSlices(kept) {
      text.addOutput(line, palette)
      text.endLine()
    }
    // Even a slow reader gets the end of a failure's output, so it does not count as output.
    if transition.event != .failure || kept.count > ProgressView.failureBytes {
      text.markOutput(from: start)
    }
    if transition.endsTry, Int64(kept.count) < transition.outcome.usage.outputBytes {
      text.add(palette.dim("(its last \(kept.count) bytes; the whole is in "))
      text.addCleaned(heading.logPath(transition.task, model.plan))
      text.add(palette.dim(")"))
      text.endLine()
    }
  }

  // MARK: - Failures

  private func writeLive(
    _ transition: Transition, _ kept: [UInt8], _ model: SessionModel, into text: inout TextBuffer
  ) {
    switch transition.event {
    case .failure where !transition.allowed: writeFailure(transition, kept, model, into: &text)
    case .failure, .retry, .interrupt, .pause, .proceed:
      line.write(transition, model, into: &text)
      line.writeLeft(transition, into: &text)
    case .success, .cancel, .fresh, .ready:
      if transition.left == nil, !line.isDiscarded(transition, model) { return }
      line.write(transition, model, into: &text)
      line.writeLeft(transition, into: &text)
    case .start where model.plan.kind(transition.task) == .approve:
      line.write(transition, model, into: &text)
      line.writeAnswer(transition, model, heading, into: &text)
    // The task's own output on the terminal follows this line.
    case .start where model.plan.flags(transition.task).contains(.interactive):
      line.write(transition, model, into: &text)
    case .start, .skip, .resume, .stopping: break
    }
  }

  private func writeQuiet(
    _ transition: Transition, _ kept: [UInt8], _ model: SessionModel, into text: inout TextBuffer
  ) {
    if transition.event == .start, model.plan.kind(transition.task) == .approve {
      line.write(transition, model, into: &text)
      line.writeAnswer(transition, model, heading, into: &text)
    } else if transition.event == .failure, !transition.allowed {
      writeFailure(transition, kept, model, into: &text)
    }
  }

  private func writeFailure(
    _ transition: Transition, _ kept: [UInt8], _ model: SessionModel, into text: inout TextBuffer
  ) {
    let tail = LastLines.of(kept, count: ProgressView.failureLines)
    FailureBlock(palette: palette, heading: heading)
      .write(FailureRecord(transition: transition, tail: tail), model, into: &text)
  }
}

/// Lists the running tasks after a minute of silence, so that the run does not seem to hang.
struct StillRunning {
  static let tickMilliseconds: Int64 = 1000

  private let palette: Palette
  private var toldLines = 0
  private var toldMilliseconds: Int64?

  private static let silenceMilliseconds: Int64 = 60_000
  private static let maxNames = 5

  init(palette: Palette) { self.palette = palette }

  mutating func tick(
    _ model: SessionModel, toldLines: Int, atMilliseconds now: Int64, into text: inout TextBuffer
  ) {
    let last = toldMilliseconds ?? model.beganMilliseconds
    if toldLines != self.toldLines || now < last {
      self.toldLines = toldLines
      toldMilliseconds = now
      return
    }
    guard now - last >= Self.silenceMilliseconds, !model.running.isEmpty else { return }
    toldMilliseconds = now
    self.toldLines = toldLines + 1
    tell(model, atMilliseconds: now, into: &text)
  }

  func tell(_ model: SessionModel, atMilliseconds now: Int64, into text: inout TextBuffer) {
    if model.running.isEmpty { return }
    let names = model.running.prefix(Self.maxNames).map { running in
      let elapsed = DurationText.text(milliseconds: now - running.startedMilliseconds)
      return "\(model.name(running.task)) (\(elapsed))"
    }
    text.addCounter(model, palette)
    text.add("still running: \(names.joined(separator: ", "))")
    if model.running.count > Self.maxNames {
      text.add(" and \(model.running.count - Self.maxNames) more")
    }
    text.endLine()
  }
}

/// How the block of a task is folded in the log of a CI server. Failures stay unfolded, because
/// readers look for them.
enum GroupFolding {
  case none
  case gitHub
  /// Section names must be unique in a log, so they contain the run's ID.
  case gitLab(run: String)

  init(_ mode: OutputMode, run: String) {
    switch mode {
    case .gitHub: self = .gitHub
    case .gitLab: self = .gitLab(run: run)
    case .live, .line, .group, .quiet: self = .none
    }
  }

  /// Whether a try's whole output is shown, because logs are lost with the CI machine.
  var showsLogs: Bool {
    switch self {
    case .none: false
    case .gitHub, .gitLab: true
    }
  }

  func fold(_ transition: Transition, _ model: SessionModel) -> GroupFold? {
    guard transition.endsTry else { return nil }
    let isGood = transition.event == .success
    switch self {
    case .none: return nil
    case .gitHub: return isGood ? .gitHub : nil
    case .gitLab(let run):
      let end = model.lastMilliseconds
      let wall = transition.outcome.usage.wallMicroseconds / 1000
      return .gitLab(
        name: "opflow-\(run)-\(transition.task.index)-\(transition.attempt)",
        beganSeconds: (end - wall) / 1000, endedSeconds: end / 1000, isCollapsed: isGood)
    }
  }
}

enum GroupFold {
  case gitHub
  /// Times are in seconds since the epoch; GitLab shows the duration next to a section.
  case gitLab(name: String, beganSeconds: Int64, endedSeconds: Int64, isCollapsed: Bool)

  /// The escape around GitLab's section markers, which hides them (ECMA-48, erase in line).
  private static let erase = "\u{1b}[0K"

  func begin(_ title: [UInt8], into text: inout TextBuffer) {
    switch self {
    case .gitHub:
      text.add("::group::")
      WorkflowCommand.append(data: title.dropLast(), to: &text)
      text.endLine()
    case .gitLab(let name, let began, _, let isCollapsed):
      let options = isCollapsed ? "[collapsed=true]" : ""
      text.add("\(Self.erase)section_start:\(began):\(name)\(options)\r\(Self.erase)")
      text.add(title)
    }
  }

  func end(into text: inout TextBuffer) {
    switch self {
    case .gitHub: text.add("::endgroup::\n")
    case .gitLab(let name, _, let ended, _):
      text.add("\(Self.erase)section_end:\(ended):\(name)\r\(Self.erase)\n")
    }
  }
}
