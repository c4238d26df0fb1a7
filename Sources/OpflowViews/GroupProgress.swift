internal import OpflowCore

/// Prints a line when a task starts, and a block with the kept output when a try ends.
struct GroupProgress: ProgressRenderer {
  private let palette: Palette
  private let heading: ProgressHeading
  private let line: TransitionLine
  private let isVerbose: Bool
  private let folding: GroupFolding
  private var reruns: RerunLines
  private var stillRunning: StillRunning

  init(palette: Palette, heading: ProgressHeading, isVerbose: Bool, folding: GroupFolding) {
    self.palette = palette
    self.heading = heading
    self.isVerbose = isVerbose
    self.folding = folding
    line = TransitionLine(palette: palette)
    reruns = RerunLines(line)
    stillRunning = StillRunning(palette: palette)
  }

  var showsTails: Bool { !folding.showsLogs }
  var showsLogs: Bool { folding.showsLogs }
  var tellsTime: Bool { true }

  func begin(_ model: DriveModel, into text: inout TextBuffer) {
    HeadingLine(palette: palette).write(heading, model, into: &text)
  }

  func join(_ model: DriveModel, atMilliseconds now: Int64, into text: inout TextBuffer) {
    stillRunning.tell(model, atMilliseconds: now, into: &text)
  }

  mutating func transition(
    _ transition: Transition, kept: [UInt8], _ model: DriveModel, into text: inout TextBuffer
  ) {
    if transition.event.kind == .resume { return reruns.add(transition, model, into: &text) }
    reruns.end(into: &text)
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
    _ kept: [UInt8], of transition: Transition, _ model: DriveModel, into text: inout TextBuffer
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

  mutating func tick(
    _ model: DriveModel, toldLines: Int, atMilliseconds now: Int64, into text: inout TextBuffer
  ) {
    stillRunning.tick(model, toldLines: toldLines, atMilliseconds: now, into: &text)
  }
}
