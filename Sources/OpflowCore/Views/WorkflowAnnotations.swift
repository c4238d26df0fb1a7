/// The failures of a drive as annotations of GitHub, each at its task's own line. GitHub takes ten of a step: of
/// more failures than that the tenth tells how many there are.
struct WorkflowAnnotations {
  let heading: ProgressHeading
  let model: DriveModel
  let failures: [FailureRecord]

  private static let most = 10
  private static let mostLines = 10
  private static let mostBytes = 2048

  func write(into text: inout TextBuffer) {
    let count = max(model.counts.failed, failures.count)
    let shown = count <= Self.most ? count : Self.most - 1
    for failure in failures.prefix(shown) { write(failure, into: &text) }
    if count > shown {
      text.add("::error title=opflow::and \(CountText.moreFailures(count - shown))\n")
    }
  }

  private func write(_ failure: FailureRecord, into text: inout TextBuffer) {
    let task = failure.transition.task
    text.add("::error ")
    if let (file, line) = heading.place(task, model.plan) {
      text.add("file=")
      WorkflowCommand.append(property: file, to: &text)
      text.add(",line=\(line),")
    }
    text.add("title=")
    WorkflowCommand.append(property: model.name(task), to: &text)
    text.add("::")
    let outcome = failure.transition.outcome
    var message = TextBuffer()
    message.addCleaned(OutcomeText.text(outcome, what: failure.transition.what))
    let wall = outcome.usage.wallMicroseconds
    if wall > 0 { message.add(" after \(DurationText.text(microseconds: wall))") }
    message.endLine()
    let tail = LastLines.of(Array(failure.tail.suffix(Self.mostBytes)), count: Self.mostLines)
    for line in LineSlices(tail) {
      message.addOutput(line, Palette(isOn: false))
      message.endLine()
    }
    WorkflowCommand.append(data: message.bytes.dropLast(), to: &text)
    text.endLine()
  }
}
