internal import OpflowCore

/// The failures and warnings of a session as GitHub annotations at their tasks' lines. GitHub shows
/// ten of each per step: if there are more, the tenth gives their number.
struct WorkflowAnnotations {
  let heading: ProgressHeading
  let model: DriveModel
  let failures: [FailureRecord]
  let warnings: WarningList

  static let most = 10
  private static let mostLines = 10
  private static let mostBytes = 2048

  func write(into text: inout TextBuffer) {
    let count = max(model.counts.failed, failures.count)
    write("error", failures.map(annotation), of: count, CountText.moreFailures, into: &text)
    write("warning", warnings.first, of: warnings.count, Self.moreWarnings, into: &text)
  }

  private static func moreWarnings(_ count: Int) -> String {
    "\(CountText.grouped(count)) more \(count == 1 ? "warning" : "warnings")"
  }

  private func write(
    _ level: String, _ first: [Annotation], of count: Int, _ more: (Int) -> String,
    into text: inout TextBuffer
  ) {
    let shown = count <= Self.most ? count : Self.most - 1
    for annotation in first.prefix(shown) { write(level, annotation, into: &text) }
    if count > shown { text.add("::\(level) title=opflow::and \(more(count - shown))\n") }
  }

  private func annotation(_ failure: FailureRecord) -> Annotation {
    let what = Annotation.outcome(failure.transition)
    return Annotation(task: failure.transition.task, what: what, tail: failure.tail)
  }

  private func write(_ level: String, _ annotation: Annotation, into text: inout TextBuffer) {
    text.add("::\(level) ")
    if let (file, line) = heading.place(annotation.task, model.plan) {
      text.add("file=")
      WorkflowCommand.append(property: file, to: &text)
      text.add(",line=\(line),")
    }
    text.add("title=")
    WorkflowCommand.append(property: model.name(annotation.task), to: &text)
    text.add("::")
    var message = TextBuffer()
    message.addCleaned(annotation.what)
    message.endLine()
    let tail = LastLines.of(Array(annotation.tail.suffix(Self.mostBytes)), count: Self.mostLines)
    for line in LineSlices(tail) {
      message.addOutput(line, Palette(isOn: false))
      message.endLine()
    }
    WorkflowCommand.append(data: message.bytes.dropLast(), to: &text)
    text.endLine()
  }
}

struct Annotation {
  let task: TaskID
  let what: String
  var tail: [UInt8] = []

  /// `exit 2 after 0.30s`.
  static func outcome(_ transition: Transition) -> String {
    let wall = transition.outcome.usage.wallMicroseconds
    return OutcomeText.text(transition.outcome, what: transition.what)
      + (wall > 0 ? " after \(DurationText.text(microseconds: wall))" : "")
  }
}

/// The allowed failures of a session, and its flaky tasks, which succeeded after a failed try.
struct WarningList {
  /// The warnings that are shown.
  private(set) var first: [Annotation] = []
  private var others: Set<TaskID> = []
  /// The last failed try of each unfinished task.
  private var failedTries: [TaskID: (attempt: Int32, what: String)] = [:]

  var count: Int { first.count + others.count }

  mutating func note(_ transition: Transition, tail: [UInt8]) {
    let task = transition.task
    switch transition.event {
    case .retry:
      failedTries[task] = (transition.attempt, Annotation.outcome(transition))
    case .success:
      guard let failed = failedTries.removeValue(forKey: task) else { return }
      addFlaky(task, attempt: transition.attempt, failed)
    case .failure:
      failedTries[task] = nil
      if transition.allowed { addAllowed(transition, tail: tail) }
    case .start, .ready, .interrupt, .skip, .resume, .cancel, .fresh, .pause, .proceed, .stopping:
      break
    }
  }

  private mutating func addAllowed(_ transition: Transition, tail: [UInt8] = []) {
    let what = "allowed to fail: \(Annotation.outcome(transition))"
    add(Annotation(task: transition.task, what: what, tail: tail))
  }

  private mutating func addFlaky(
    _ task: TaskID, attempt: Int32, _ failed: (attempt: Int32, what: String)
  ) {
    let what = "flaky: try \(failed.attempt): \(failed.what); try \(attempt) succeeded"
    add(Annotation(task: task, what: what))
  }

  private mutating func add(_ warning: Annotation) {
    if first.count < WorkflowAnnotations.most {
      first.append(warning)
    } else {
      others.insert(warning.task)
    }
  }

  /// Removes tasks that are retried.
  mutating func remove(_ tasks: [TaskID]) {
    if count == 0 { return }
    let tasks = Set(tasks)
    first.removeAll { tasks.contains($0.task) }
    others.subtract(tasks)
  }

  /// Takes over the warnings of a session that already runs.
  mutating func join(_ history: RunModel, _ model: DriveModel) {
    for transition in FailureList.joined(history, model, .failedAllowed) { addAllowed(transition) }
    let tries = history.details.failedTries
    for task in tries.keys.sorted(by: { history[$0].settleSequence < history[$1].settleSequence }) {
      guard let last = tries[task]?.last else { continue }
      let failed = (last.attempt, OutcomeText.text(last.outcome, what: last.what))
      if model.state(task) == .succeeded {
        addFlaky(task, attempt: history[task].attempts, failed)
      } else if !model.state(task).isTerminal {
        failedTries[task] = failed
      }
    }
  }
}
