internal import OpflowCore

/// Prints only failures, and approvals that wait for an answer.
struct QuietProgress: ProgressRenderer {
  let palette: Palette
  let heading: ProgressHeading

  var tellsOrders: Bool { false }
  var tellsWaits: Bool { false }
  var tellsFailuresOnly: Bool { true }

  func begin(_ model: DriveModel, into text: inout TextBuffer) {}

  func transition(
    _ transition: Transition, kept: [UInt8], _ model: DriveModel, into text: inout TextBuffer
  ) {
    if transition.event == .start, model.plan.kind(transition.task) == .approve {
      // The run cannot continue until a user sees this.
      let line = TransitionLine(palette: palette)
      line.write(transition, model, into: &text)
      line.writeAnswer(transition, model, heading, into: &text)
    }
    guard transition.event == .failure, !transition.allowed else { return }
    let tail = LastLines.of(kept, count: ProgressView.failureLines)
    FailureBlock(palette: palette, heading: heading)
      .write(FailureRecord(transition: transition, tail: tail), model, into: &text)
  }
}
