internal import OpflowCore

/// Prints what stays above the live view: the heading, and what goes wrong.
struct LiveProgress: ProgressRenderer {
  private let palette: Palette
  private let heading: ProgressHeading
  private let line: TransitionLine
  private var reruns: RerunLines

  init(palette: Palette, heading: ProgressHeading) {
    self.palette = palette
    self.heading = heading
    line = TransitionLine(palette: palette)
    reruns = RerunLines(line)
  }

  var tellsFailuresOnly: Bool { true }

  func begin(_ model: DriveModel, into text: inout TextBuffer) {
    HeadingLine(palette: palette).write(heading, model, into: &text)
  }

  mutating func transition(
    _ transition: Transition, kept: [UInt8], _ model: DriveModel, into text: inout TextBuffer
  ) {
    if transition.event.kind == .resume { return reruns.add(transition, model, into: &text) }
    reruns.end(into: &text)
    switch transition.event {
    case .failure where !transition.allowed:
      let tail = LastLines.of(kept, count: ProgressView.failureLines)
      FailureBlock(palette: palette, heading: heading)
        .write(FailureRecord(transition: transition, tail: tail), model, into: &text)
    case .failure, .retry, .interrupt, .pause, .proceed:
      line.write(transition, model, into: &text)
      line.writeLeft(transition, into: &text)
    case .success, .cancel, .fresh, .ready:
      if transition.left == nil, !line.isUnkept(transition, model) { return }
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
}
