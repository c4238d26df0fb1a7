/// Progress in blocks: when a try ends, its line and all that it printed, as far as it was kept.
struct GroupProgress: ProgressRenderer {
  private let palette: Palette
  /// The lines `::group::` and `::endgroup::` of GitHub Actions stand around each block.
  private let isFolded: Bool

  init(palette: Palette, isFolded: Bool) {
    self.palette = palette
    self.isFolded = isFolded
  }

  func begin(_ model: ProgressModel, into text: inout TextBuffer) {
    HeadingLine(palette: palette).write(model, into: &text)
  }

  func transition(
    _ transition: Transition, kept: [UInt8], _ model: ProgressModel, into text: inout TextBuffer
  ) {
    if transition.event == .start { return }
    var title = TextBuffer()
    TransitionLine(palette: palette).write(transition, model, into: &title)
    if title.isEmpty { return }
    // A failure stays unfolded, since it is what a reader came for.
    let folds = isFolded && transition.event == .success && !kept.isEmpty
    if folds { text.add("::group::") }
    text.add(title.bytes)
    for line in LineSlices(kept) {
      text.addCleaned(line)
      text.endLine()
    }
    if Int64(kept.count) < transition.outcome.usage.outputBytes {
      text.add(palette.dim("(its last \(kept.count) bytes; the whole is in "))
      text.addCleaned(model.heading.logPath(transition.task))
      text.add(palette.dim(")"))
      text.endLine()
    }
    if folds { text.add("::endgroup::\n") } else if !kept.isEmpty { text.endLine() }
  }
}
