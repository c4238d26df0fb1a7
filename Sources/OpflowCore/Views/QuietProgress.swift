/// Progress for those who want to hear of failures only, and on a terminal of what else went wrong.
struct QuietProgress: ProgressRenderer {
  let palette: Palette
  /// Tries that failed, failures that are allowed and interruptions have a line too.
  let tellsTrouble: Bool

  func begin(_ model: ProgressModel, into text: inout TextBuffer) {}

  func transition(
    _ transition: Transition, kept: [UInt8], _ model: ProgressModel, into text: inout TextBuffer
  ) {
    switch transition.event {
    case .failure where !transition.allowed:
      let tail = LastLines.of(kept, count: ProgressView.failureLines)
      FailureBlock(palette: palette)
        .write(FailureRecord(transition: transition, tail: tail), model, into: &text)
    case .failure, .retry, .interrupt, .pause, .proceed:
      if tellsTrouble {
        TransitionLine(palette: palette).write(transition, model, into: &text)
      }
    case .start, .success, .skip, .cancel, .resume: break
    }
  }
}
