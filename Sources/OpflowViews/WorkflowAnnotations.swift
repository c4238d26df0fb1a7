internal import OpflowBase
internal import OpflowJournal
internal import OpflowPlan

/// The failures and warnings of a session as GitHub annotations at their tasks' lines. GitHub shows
/// ten of each per step: if there are more, the tenth gives their number.
struct WorkflowAnnotations {
  let heading: ProgressHeading
  let model: SessionModel
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
    let detail = Annotation.outcome(failure.transition)
    return Annotation(task: failure.transition.task, detail: detail, tail: failure.tail)
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
    message.addCleaned(annotation.detail)
    message.endLine()
    let tail = LastLines.of(Array(annotation.tail.suffix(Self.mostBytes)), count: Self.mostLines)
    message.addOutput(lines: tail)
    WorkflowCommand.append(data: message.bytes.dropLast(), to: &text)
    text.endLine()
  }
}

struct Annotation {
  let task: TaskID
  let detail: String
  var tail: [UInt8] = []

  /// `exit 2 after 0.30s`.
  static func outcome(_ transition: Transition) -> String {
    let wall = transition.outcome.usage.wallMicroseconds
    return OutcomeText.text(transition.outcome, detail: transition.detail)
      + (wall > 0 ? " after \(DurationText.text(microseconds: wall))" : "")
  }
}

/// Flaky tasks succeeded after a failed attempt.
struct WarningList {
  private(set) var first: [Annotation] = []
  private var others: Set<TaskID> = []
  private var failedTries: [TaskID: (attempt: Int32, detail: String)] = [:]

  var count: Int { first.count + others.count }

  mutating func note(_ transition: Transition, tail: [UInt8]) {
    let task = transition.task
    switch transition.event {
    case .retry: failedTries[task] = (transition.attempt, Annotation.outcome(transition))
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
    let detail = "allowed to fail: \(Annotation.outcome(transition))"
    add(Annotation(task: transition.task, detail: detail, tail: tail))
  }

  private mutating func addFlaky(
    _ task: TaskID, attempt: Int32, _ failed: (attempt: Int32, detail: String)
  ) {
    let detail =
      "flaky: attempt \(failed.attempt) failed: \(failed.detail); attempt \(attempt) succeeded"
    add(Annotation(task: task, detail: detail))
  }

  private mutating func add(_ warning: Annotation) {
    if first.count < WorkflowAnnotations.most {
      first.append(warning)
    } else {
      others.insert(warning.task)
    }
  }

  mutating func remove(_ tasks: [TaskID]) {
    if count == 0 { return }
    let tasks = Set(tasks)
    first.removeAll { tasks.contains($0.task) }
    others.subtract(tasks)
  }

  mutating func join(_ history: RunModel, _ model: SessionModel) {
    for transition in FailureList.joined(history, model, .failedAllowed) { addAllowed(transition) }
    let tries = history.details.failedTries
    for task in tries.keys.sorted(by: { history[$0].settleSequence < history[$1].settleSequence }) {
      guard let last = tries[task]?.last else { continue }
      let failed = (last.attempt, last.text)
      if model.state(task) == .succeeded {
        addFlaky(task, attempt: history[task].attempts, failed)
      } else if !model.state(task).isTerminal {
        failedTries[task] = failed
      }
    }
  }
}

/// Lines that GitHub's runner executes: `::NAME PROPERTIES::DATA` at the start of a line, after
/// white space, and `##[NAME PROPERTIES]DATA` anywhere in a line (actions/runner,
/// ActionCommand.cs).
enum WorkflowCommand {
  static func append(data: some Sequence<UInt8>, to text: inout TextBuffer) {
    for byte in data {
      switch byte {
      case UInt8(ascii: "%"): text.add("%25")
      case 13: text.add("%0D")
      case 10: text.add("%0A")
      default: text.add(CollectionOfOne(byte))
      }
    }
  }

  static func append(property value: String, to text: inout TextBuffer) {
    for byte in CleanText.string(value).utf8 {
      switch byte {
      case UInt8(ascii: ":"): text.add("%3A")
      case UInt8(ascii: ","): text.add("%2C")
      default: append(data: CollectionOfOne(byte), to: &text)
      }
    }
  }

  /// Inserts a space so that text from `start` on is not a command: `: :error::`, `# #[error]`.
  /// This includes commands of other servers in the second form (`##vso[`, `##teamcity[`).
  ///
  /// A zero-width character is not sufficient: the runner's culture-sensitive comparison ignores
  /// it. `stop-commands` with a token would apply to the rest of the job if opflow dies.
  static func breakUp(_ bytes: inout [UInt8], from start: Int) {
    let colon = UInt8(ascii: ":")
    let first = firstVisible(bytes, from: start)
    if first + 1 < bytes.count, bytes[first] == colon, bytes[first + 1] == colon {
      bytes.insert(UInt8(ascii: " "), at: first + 1)
    }
    let hash = UInt8(ascii: "#")
    var index = start
    while index + 2 < bytes.count {
      defer { index += 1 }
      guard bytes[index] == hash, bytes[index + 1] == hash else { continue }
      let name = bytes[(index + 2)...].prefix { 0x61...0x7A ~= $0 | 0x20 }
      guard name.endIndex < bytes.count, bytes[name.endIndex] == UInt8(ascii: "[") else { continue }
      bytes.insert(UInt8(ascii: " "), at: index + 1)
    }
  }

  /// Skips spaces, colors and non-ASCII characters, some of which are white space for the runner.
  private static func firstVisible(_ bytes: [UInt8], from start: Int) -> Int {
    var index = start
    while index < bytes.count {
      switch bytes[index] {
      case 27:
        while index < bytes.count, bytes[index] != UInt8(ascii: "m") { index += 1 }
        index += 1
      case 33...126: return index
      default: index += 1
      }
    }
    return index
  }
}
