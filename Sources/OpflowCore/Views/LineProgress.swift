/// Progress in lines: one for each start and end, and each line of output after `ID | `.
struct LineProgress: ProgressRenderer {
  private let palette: Palette
  private let line: TransitionLine
  private let isVerbose: Bool
  private var reruns: RerunLines
  /// When how far a download is was told last, by task.
  private var told: [TaskID: Int64] = [:]
  /// Since when nothing has come of downloads of which that was said.
  private var stalled: [TaskID: Int64] = [:]

  init(palette: Palette, isVerbose: Bool) {
    self.palette = palette
    self.isVerbose = isVerbose
    line = TransitionLine(palette: palette)
    reruns = RerunLines(line)
  }

  func begin(_ model: ProgressModel, into text: inout TextBuffer) {
    HeadingLine(palette: palette).write(model, into: &text)
  }

  mutating func transition(
    _ transition: Transition, kept: [UInt8], _ model: ProgressModel, into text: inout TextBuffer
  ) {
    if transition.event == .resume { return reruns.add(transition, model, into: &text) }
    reruns.end(into: &text)
    if transition.endsTry {
      told[transition.task] = nil
      stalled[transition.task] = nil
    }
    line.write(transition, model, into: &text)
    if isVerbose, transition.event == .start {
      text.add(palette.dim("  \(ActionText.text(transition.task, plan: model.plan))"))
      text.endLine()
    }
    if transition.event == .failure, transition.outcome.usage.outputBytes > 0 {
      text.add("  log: ")
      text.addCleaned(model.heading.logPath(transition.task))
      text.endLine()
    }
  }

  func outputLine(
    _ task: TaskID, _ line: UnsafeRawBufferPointer, _ model: ProgressModel,
    into text: inout TextBuffer
  ) {
    if palette.isOn {
      text.add(palette.dim("\(model.name(task)) | "))
    } else {
      text.add(model.plan.nameBytes(task))
      text.add(" | ")
    }
    text.addCleaned(line)
    text.endLine()
  }

  /// The first after a second, so that a short download has none, then less and less often.
  mutating func download(
    _ running: ProgressModel.RunningTask, _ progress: DownloadProgress, _ model: ProgressModel,
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
  func ticks(_ model: ProgressModel) -> Bool { model.hasDownload }

  /// A download of which nothing comes any more is told once.
  mutating func tick(
    _ model: ProgressModel, atMilliseconds now: Int64, into text: inout TextBuffer
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
