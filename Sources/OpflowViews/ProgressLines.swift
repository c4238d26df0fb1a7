internal import OpflowBase
internal import OpflowJournal
internal import OpflowPlan

/// Prints progress as lines that stay, according to the mode:
///
/// - `line`: a line for each start and end, and each line of output after `ID | `.
/// - `group`, `gitHub`, `gitLab`: a line when a task starts, and a block with its output when an
///   attempt ends, folded in the log of a CI server.
/// - `live`: the lines above the live view: heading and failures.
/// - `quiet`: only failures, and approvals that wait for an answer.
struct ProgressLines {
  var text: TextBuffer
  private let mode: OutputMode
  private let isVerbose: Bool
  private let heading: ProgressHeading
  private var reruns = RerunLines()
  private var stillRunning = StillRunning()
  private var told: [TaskID: Int64] = [:]
  private var stalled: [TaskID: Int64] = [:]

  init(_ mode: OutputMode, _ options: ProgressOptions, _ heading: ProgressHeading) {
    self.mode = mode
    self.heading = heading
    isVerbose = options.verbose
    text = TextBuffer(color: options.color, breaksCommands: !options.passesCommands)
  }

  /// Shows the last output of an attempt at its end.
  var showsTails: Bool { mode == .group }

  /// Shows the whole output of an attempt at its end, because a CI server's machine loses its logs.
  var showsLogs: Bool { mode == .gitHub || mode == .gitLab }

  /// Does not print requests or waits for nodes. The loss of a node is always printed.
  var isQuiet: Bool { mode == .quiet }

  /// Prints little but failures, so that these stay close together, and does not report silence,
  /// for which other modes need `tick`.
  var tellsFailuresOnly: Bool { mode == .live || mode == .quiet }

  mutating func begin(_ model: SessionModel) {
    if !isQuiet { heading.write(model, into: &text) }
  }

  /// Starts output for a view that joined a session; a frame shows running tasks itself.
  mutating func join(_ model: SessionModel, atMilliseconds now: Int64) {
    if mode == .line { text.addHold(model) }
    if !tellsFailuresOnly { stillRunning.tell(model, atMilliseconds: now, into: &text) }
  }

  mutating func transition(_ transition: Transition, kept: [UInt8], _ model: SessionModel) {
    if isQuiet { return writeQuiet(transition, kept, model) }
    if transition.event.kind == .resume { return reruns.add(transition, model, into: &text) }
    reruns.end(into: &text)
    switch mode {
    case .line: writeLine(transition, model)
    case .group, .gitHub, .gitLab: writeGroup(transition, kept, model)
    case .live: writeLive(transition, kept, model)
    case .quiet: break
    }
  }

  mutating func tick(_ model: SessionModel, toldLines: Int, atMilliseconds now: Int64) {
    if tellsFailuresOnly { return }
    if mode == .line { tellStalled(model, atMilliseconds: now) }
    stillRunning.tick(model, toldLines: toldLines, atMilliseconds: now, into: &text)
  }

  // MARK: - Lines

  private mutating func writeLine(_ transition: Transition, _ model: SessionModel) {
    if transition.endsTry {
      told[transition.task] = nil
      stalled[transition.task] = nil
    }
    text.add(transition, model)
    text.addLeft(transition)
    if isVerbose { text.addAction(transition, model) }
    text.addAnswer(transition, model, heading)
    guard transition.event == .failure else { return }
    heading.writeSource(of: transition, plan: model.plan, into: &text)
    if transition.outcome.usage.outputBytes > 0 {
      text.add("  ")
      heading.writeLog(transition.task, plan: model.plan, into: &text)
      text.endLine()
    }
    text.addLimit(transition, model, heading)
  }

  mutating func outputLine(_ task: TaskID, _ line: UnsafeRawBufferPointer, _ model: SessionModel) {
    if mode != .line { return }
    if text.palette.isOn {
      text.add(text.palette.dim("\(model.name(task)) | "))
    } else {
      text.add(model.plan.nameBytes(task))
      text.add(" | ")
    }
    text.addOutput(line)
    text.endLine()
  }

  mutating func skipped(_ task: TaskID, bytes: Int64, lines: Int?, _ model: SessionModel) {
    if mode != .line { return }
    let amount =
      switch lines {
      case 1: "1 line"
      case let lines?: "\(CountText.grouped(lines)) lines"
      case nil: SizeText.steady(bytes: UInt64(max(0, bytes)))
      }
    text.add(text.palette.dim("\(model.name(task)) | "))
    text.add(text.palette.dim("… \(amount) not shown; full log: "))
    text.addCleaned(heading.logPath(task, model.plan))
    text.endLine()
  }

  /// The first line comes after a second, so that short downloads have none; further lines become
  /// rarer.
  mutating func download(
    _ running: SessionModel.RunningTask, _ progress: DownloadProgress, _ model: SessionModel,
    atMilliseconds now: Int64
  ) {
    if mode != .line { return }
    let (task, elapsed) = (running.task, now - running.startedMilliseconds)
    if let since = stalled.removeValue(forKey: task) {
      told[task] = now
      return text.addRecovery(task, progress, model, stalledMilliseconds: now - since)
    }
    let wait: Int64 =
      switch elapsed {
      case ..<60_000: 5000
      case ..<600_000: 30_000
      default: 60_000
      }
    let last = told[task]
    guard last.map({ now - $0 >= wait }) ?? (elapsed >= 1000) else { return }
    told[task] = now
    text.addDownload(task, progress, model, atMilliseconds: now, tellsResume: last == nil)
  }

  private mutating func tellStalled(_ model: SessionModel, atMilliseconds now: Int64) {
    for running in model.running where stalled[running.task] == nil {
      guard let progress = running.download, !model.isSuspended(running.task),
        progress.stalledMilliseconds(at: now) != nil
      else { continue }
      stalled[running.task] = progress.toldMilliseconds
      told[running.task] = now
      text.addDownload(running.task, progress, model, atMilliseconds: now, tellsResume: false)
    }
  }

  // MARK: - Groups

  private mutating func writeGroup(
    _ transition: Transition, _ kept: [UInt8], _ model: SessionModel
  ) {
    var title = text.emptied
    title.add(transition, model)
    if title.isEmpty { return }
    let hasOutput = !kept.isEmpty || text.log != nil
    var end: String?
    if hasOutput, transition.endsTry {
      end = beginFold(title.bytes, transition, model)
    } else {
      text.add(title.bytes)
    }
    text.addLeft(transition)
    if isVerbose { text.addAction(transition, model) }
    heading.writeSource(of: transition, plan: model.plan, into: &text)
    text.addAnswer(transition, model, heading)
    if text.log != nil { text.placeLog() } else { write(kept, of: transition, model) }
    if hasOutput { text.add(end ?? "\n") }
    text.addLimit(transition, model, heading)
  }

  /// The escape around GitLab's section markers, which hides them (ECMA-48, erase in line).
  private static let erase = "\u{1b}[0K"

  /// Begins a block, and returns its end if a CI server folds it. Failures stay unfolded, because
  /// readers look for them. GitLab shows the duration next to a section.
  private mutating func beginFold(
    _ title: [UInt8], _ transition: Transition, _ model: SessionModel
  ) -> String? {
    let isGood = transition.event == .success
    if mode == .gitHub, isGood {
      text.add("::group::")
      WorkflowCommand.append(data: title.dropLast(), to: &text)
      text.endLine()
      return "::endgroup::\n"
    }
    guard mode == .gitLab else {
      text.add(title)
      return nil
    }
    let name = "opflow-\(heading.run)-\(transition.task.index)-\(transition.attempt)"
    let (ended, erase) = (model.lastMilliseconds, Self.erase)
    let began = (ended - transition.outcome.usage.wallMicroseconds / 1000) / 1000
    let options = isGood ? "[collapsed=true]" : ""
    text.add("\(erase)section_start:\(began):\(name)\(options)\r\(erase)")
    text.add(title)
    return "\(erase)section_end:\(ended / 1000):\(name)\r\(erase)\n"
  }

  private mutating func write(
    _ kept: [UInt8], of transition: Transition, _ model: SessionModel
  ) {
    let start = text.bytes.count
    text.addOutput(lines: kept)
    // Not marked as output, since even a slow reader must get the end of a failure's output.
    if transition.event != .failure || kept.count > ProgressView.failureBytes {
      text.markOutput(from: start)
    }
    if transition.endsTry, Int64(kept.count) < transition.outcome.usage.outputBytes {
      text.add(text.palette.dim("(the last \(kept.count) bytes; full log: "))
      text.addCleaned(heading.logPath(transition.task, model.plan))
      text.add(text.palette.dim(")"))
      text.endLine()
    }
  }

  // MARK: - Failures

  private mutating func writeLive(
    _ transition: Transition, _ kept: [UInt8], _ model: SessionModel
  ) {
    switch transition.event {
    case .failure where !transition.allowed: writeFailure(transition, kept, model)
    case .failure, .retry, .interrupt, .pause, .proceed:
      text.add(transition, model)
      text.addLeft(transition)
    case .success, .cancel, .fresh, .ready:
      if transition.left == nil, !TransitionLine.isDiscarded(transition, model) { return }
      text.add(transition, model)
      text.addLeft(transition)
    case .start where model.plan.kind(transition.task) == .approve:
      text.add(transition, model)
      text.addAnswer(transition, model, heading)
    // The task's own output on the terminal follows this line.
    case .start where model.plan.flags(transition.task).contains(.interactive):
      text.add(transition, model)
    case .start, .skip, .resume, .stopping: break
    }
  }

  private mutating func writeQuiet(
    _ transition: Transition, _ kept: [UInt8], _ model: SessionModel
  ) {
    if transition.event == .start, model.plan.kind(transition.task) == .approve {
      text.add(transition, model)
      text.addAnswer(transition, model, heading)
    } else if transition.event == .failure, !transition.allowed {
      writeFailure(transition, kept, model)
    }
  }

  private mutating func writeFailure(
    _ transition: Transition, _ kept: [UInt8], _ model: SessionModel
  ) {
    let tail = LastLines.of(kept, count: ProgressView.failureLines)
    FailureBlock(heading: heading)
      .write(FailureRecord(transition: transition, tail: tail), model, into: &text)
  }
}

/// Lists the running tasks after a minute of silence, so that the run does not seem to hang.
struct StillRunning {
  static let tickMilliseconds: Int64 = 1000

  private var toldLines = 0
  private var toldMilliseconds: Int64?

  private static let silenceMilliseconds: Int64 = 60_000
  private static let maxNames = 5

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
    text.addCounter(model)
    let more = model.running.count - Self.maxNames
    let others = more > 0 ? " … and \(more) more" : ""
    text.add("still running: \(names.joined(separator: ", "))\(others)\n")
  }
}
