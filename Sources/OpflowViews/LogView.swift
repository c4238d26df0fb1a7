package import OpflowPlan

package struct LogView {
  package enum Labels: Equatable, Sendable {
    case none
    /// `==> ID <==` above a task's lines.
    case headers
    /// `ID | ` in front of each line.
    case prefixes
  }

  private var plan: Plan
  private var labels: Labels
  private var outputs = TaskOutputs()
  private var shown = TaskID.none
  private var text: TextBuffer

  package init(plan: Plan, labels: Labels, color: Bool = false) {
    text = TextBuffer(color: color)
    self.plan = plan
    self.labels = labels
  }

  package mutating func grow(to plan: Plan, labels: Labels) {
    self.plan = plan
    self.labels = labels
  }

  package mutating func append(_ task: TaskID, _ bytes: UnsafeRawBufferPointer) {
    writeHeader(task)
    let (plan, labels) = (plan, labels)
    outputs.append(task, bytes) {
      Self.write($0, endsLine: $1, of: task, plan, labels, into: &text)
    }
  }

  package mutating func end(_ task: TaskID) {
    let (plan, labels) = (plan, labels)
    outputs.flush(task) {
      Self.write($0, endsLine: $1, of: task, plan, labels, into: &text)
    }
  }

  package mutating func takeText() -> [UInt8] { text.take() }

  private mutating func writeHeader(_ task: TaskID) {
    guard labels == .headers, task != shown else { return }
    if !shown.isNone { text.endLine() }
    shown = task
    text.add("==> \(plan.nameString(task)) <==\n")
  }

  /// Adds a newline after a piece of a long line only if another task's output may follow.
  private static func write(
    _ line: UnsafeRawBufferPointer, endsLine: Bool, of task: TaskID, _ plan: Plan, _ labels: Labels,
    into text: inout TextBuffer
  ) {
    if labels == .prefixes {
      text.add(plan.nameBytes(task))
      text.add(" | ")
    }
    text.addOutput(line)
    if endsLine || labels == .prefixes { text.endLine() }
  }
}
