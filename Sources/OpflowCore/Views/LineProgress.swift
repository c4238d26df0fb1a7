/// Progress in lines: one for each start and end, and each line of output after `ID | `.
struct LineProgress: ProgressRenderer {
  private let palette: Palette
  private let line: TransitionLine
  private let isVerbose: Bool
  /// Tasks told so far that a resume runs again.
  private var rerunCount = 0

  private static let maxReruns = 20

  init(palette: Palette, isVerbose: Bool) {
    self.palette = palette
    self.isVerbose = isVerbose
    line = TransitionLine(palette: palette)
  }

  func begin(_ model: ProgressModel, into text: inout TextBuffer) {
    HeadingLine(palette: palette).write(model, into: &text)
  }

  mutating func transition(
    _ transition: Transition, kept: [UInt8], _ model: ProgressModel, into text: inout TextBuffer
  ) {
    if transition.event == .resume {
      rerunCount += 1
      if rerunCount > Self.maxReruns { return }
    } else {
      tellFurtherReruns(into: &text)
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

  private mutating func tellFurtherReruns(into text: inout TextBuffer) {
    if rerunCount > Self.maxReruns {
      text.add("… and \(rerunCount - Self.maxReruns) more run again")
      text.endLine()
    }
    rerunCount = 0
  }
}
