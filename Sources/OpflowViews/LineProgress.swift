internal import OpflowCore

/// Prints a line for each start and end, and each line of output after `ID | `.
struct LineProgress: ProgressRenderer {
  private let palette: Palette
  private let heading: ProgressHeading
  private let line: TransitionLine
  private let isVerbose: Bool
  private var reruns: RerunLines
  private var stillRunning: StillRunning
  /// The times when each download's progress was last printed.
  private var told: [TaskID: Int64] = [:]
  /// The times since when downloads have stalled, if that was printed.
  private var stalled: [TaskID: Int64] = [:]

  init(palette: Palette, heading: ProgressHeading, isVerbose: Bool) {
    self.palette = palette
    self.heading = heading
    self.isVerbose = isVerbose
    line = TransitionLine(palette: palette)
    reruns = RerunLines(line)
    stillRunning = StillRunning(palette: palette)
  }

  var tellsTime: Bool { true }

  func begin(_ model: DriveModel, into text: inout TextBuffer) {
    HeadingLine(palette: palette).write(heading, model, into: &text)
  }

  func join(_ model: DriveModel, atMilliseconds now: Int64, into text: inout TextBuffer) {
    line.writeHold(model, into: &text)
    stillRunning.tell(model, atMilliseconds: now, into: &text)
  }

  mutating func transition(
    _ transition: Transition, kept: [UInt8], _ model: DriveModel, into text: inout TextBuffer
  ) {
    if transition.event.kind == .resume { return reruns.add(transition, model, into: &text) }
    reruns.end(into: &text)
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
    _ task: TaskID, _ line: UnsafeRawBufferPointer, _ model: DriveModel,
    into text: inout TextBuffer
  ) {
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
    _ task: TaskID, bytes: Int64, lines: Int?, _ model: DriveModel, into text: inout TextBuffer
  ) {
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

  mutating func tick(
    _ model: DriveModel, toldLines: Int, atMilliseconds now: Int64, into text: inout TextBuffer
  ) {
    tellStalled(model, atMilliseconds: now, into: &text)
    stillRunning.tick(model, toldLines: toldLines, atMilliseconds: now, into: &text)
  }

  /// Prints a first line after a second, so that short downloads have none, then fewer and fewer.
  mutating func download(
    _ running: DriveModel.RunningTask, _ progress: DownloadProgress, _ model: DriveModel,
    atMilliseconds now: Int64, into text: inout TextBuffer
  ) {
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
    _ model: DriveModel, atMilliseconds now: Int64, into text: inout TextBuffer
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
}
