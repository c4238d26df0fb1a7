/// A failure: with the end of its output where it happens, in a line when that is still in sight.
struct FailureBlock {
  let palette: Palette
  let heading: ProgressHeading

  /// `build failed: exit 2 after 0.30s, log: PATH`
  func writeLine(_ failure: FailureRecord, _ model: DriveModel, into text: inout TextBuffer) {
    writeTitle(failure, model, into: &text)
    if failure.hasLog {
      text.add(", ")
      heading.writeLog(failure.transition.task, into: &text)
    }
    text.endLine()
  }

  private func writeTitle(
    _ failure: FailureRecord, _ model: DriveModel, into text: inout TextBuffer
  ) {
    text.add(palette.red("\(model.name(failure.transition.task)) failed"))
    text.addSentence(OutcomeText.failure(failure.transition))
  }

  func write(_ failure: FailureRecord, _ model: DriveModel, into text: inout TextBuffer) {
    let transition = failure.transition
    writeTitle(failure, model, into: &text)
    text.endLine()
    for line in LineSlices(failure.tail) {
      text.add(palette.dim("  | "))
      text.addOutput(line, palette)
      text.endLine()
    }
    TransitionLine(palette: palette).writeLeft(transition, into: &text)
    if transition.outcome.reason == .interrupted {
      text.add("  it is not to be run twice (on_interrupted: fail); when it may be:\n")
      text.add("  \(heading.resumeCommand) --rerun \(model.name(transition.task))\n")
    }
    if failure.hasLog {
      text.add("  ")
      heading.writeLog(transition.task, into: &text)
      text.endLine()
    }
  }
}

extension FailureRecord {
  fileprivate var hasLog: Bool { transition.outcome.usage.outputBytes > 0 || !tail.isEmpty }
}
