internal import OpflowCore

/// Prints a failure in full, or in one line if the full text is still in sight.
struct FailureBlock {
  let palette: Palette
  let heading: ProgressHeading

  /// Writes `build failed: exit 2 after 0.30s, log: PATH`, on two lines if wider than `columns`.
  func writeLine(
    _ failure: FailureRecord, _ model: DriveModel, columns: Int, into text: inout TextBuffer
  ) {
    writeTitle(failure, model, into: &text)
    if failure.hasLog {
      let task = failure.transition.task
      let whole =
        Self.words(failure, model).joined() + ", log: "
        + CleanText.string(heading.logPath(task, model.plan))
      if TextWidth.of(whole) <= columns {
        text.add(", ")
      } else {
        text.endLine()
        text.add("  ")
      }
      heading.writeLog(task, plan: model.plan, into: &text)
    }
    text.endLine()
  }

  private func writeTitle(
    _ failure: FailureRecord, _ model: DriveModel, into text: inout TextBuffer
  ) {
    let words = Self.words(failure, model)
    text.add(palette.red(words[0]))
    text.addSentence(words[1])
  }

  private static func words(_ failure: FailureRecord, _ model: DriveModel) -> [String] {
    let place =
      failure.transition.attempt > 0
      ? MachineText.place(of: failure.transition.task, model) : ""
    return [
      "\(model.name(failure.transition.task)) failed",
      place + OutcomeText.failure(failure.transition),
    ]
  }

  func write(_ failure: FailureRecord, _ model: DriveModel, into text: inout TextBuffer) {
    let transition = failure.transition
    writeTitle(failure, model, into: &text)
    text.endLine()
    heading.writeSource(of: transition, plan: model.plan, palette, into: &text)
    for line in LineSlices(failure.tail) {
      text.add(palette.dim("  | "))
      text.addOutput(line, palette)
      text.endLine()
    }
    TransitionLine(palette: palette).writeLeft(transition, into: &text)
    if transition.outcome.reason == .interrupted {
      text.add("  it is not to be run twice (on_interrupted: fail); when it may be:\n")
      let name = QuotedWords.quoted(model.name(transition.task))
      text.add("  \(heading.resumeCommand) --rerun \(name)\n")
    }
    if failure.hasLog {
      text.add("  ")
      heading.writeLog(transition.task, plan: model.plan, into: &text)
      text.endLine()
    }
  }
}

extension FailureRecord {
  fileprivate var hasLog: Bool { transition.outcome.usage.outputBytes > 0 || !tail.isEmpty }
}
