package import OpflowBase
package import OpflowJournal
package import OpflowPlan

package struct ProgressOptions: Sendable, Equatable {
  package var mode: OutputMode
  package var json = false
  package var color = false
  package var verbose = false
  /// In any mode, failures are also annotations of a GitHub step.
  package var annotates = false
  package var passesCommands = true
  package var signals = TerminalSignals()
  package var size = TerminalSize(columns: 80, rows: 24)

  package init(mode: OutputMode) { self.mode = mode }
}

/// Closures take the current plan, which may have grown.
package struct ProgressHeading: Sendable {
  package var run: String
  package var isResumed = false
  let scope: SessionScope
  /// The requests in force from a crashed session that this one continues.
  package var requests = RequestRecords()
  package var logPath: @Sendable (TaskID, Plan) -> String
  let resumeCommand: @Sendable () -> String
  let logsCommand: @Sendable () -> String
  /// The capacity of `cpu` at the start; nil if unknown.
  package var parallel: Int64?
  /// Per resource, at the start. With `maxFailures` (0: no limit) and `durations`, the basis of the
  /// time left.
  package var capacities: [UInt64] = []
  package var maxFailures = 0
  package var durations = TaskDurations.unknown
  /// Links clean text to a task's log, if the terminal has links.
  package var link: @Sendable (_ text: String, TaskID, Plan) -> String = { text, _, _ in text }
  /// As the CI server knows the file, for annotations.
  package var place: @Sendable (TaskID, Plan) -> (file: String, line: Int)? = { _, _ in nil }
  /// `PATH:LINE`, as shown to users; empty if unknown.
  package var standing: @Sendable (TaskID, Plan) -> String = { _, _ in "" }
  package var controlCommand: RequestLineText = ControlAction.plainCommand

  /// `resumeCommand` and `logsCommand` are evaluated only when shown.
  package init(
    run: String, initial: [InitialState],
    resumeCommand: @autoclosure @escaping @Sendable () -> String,
    logsCommand: @autoclosure @escaping @Sendable () -> String,
    logPath: @escaping @Sendable (TaskID, Plan) -> String
  ) {
    self.run = run
    scope = SessionScope(initial)
    self.resumeCommand = resumeCommand
    self.logsCommand = logsCommand
    self.logPath = logPath
  }

  /// `run r1 (demo): 3 tasks, 1 already done`.
  func write(_ model: SessionModel, into text: inout TextBuffer) {
    text.add(text.palette.bold("\(isResumed ? "resuming" : "run") \(run)"))
    text.add(" (")
    text.addCleaned(model.plan.string(model.plan.manifest.name))
    text.add("): \(model.total) \(model.total == 1 ? "task" : "tasks")")
    if model.reused > 0 { text.add(", \(model.reused) already done") }
    text.endLine()
  }

  /// `  opflow.yaml:12: make test`, below a failure.
  func writeSource(of transition: Transition, plan: Plan, into text: inout TextBuffer) {
    guard transition.event == .failure, !transition.allowed else { return }
    let task = transition.task
    // The failure message of a download names its URL.
    let action = plan.kind(task) == .download ? "" : ActionText.text(task, plan: plan)
    let parts = [CleanText.string(standing(task, plan)), action]
    let source = parts.filter { !$0.isEmpty }.joined(separator: ": ")
    if source.isEmpty { return }
    text.add("  ")
    text.addSentence(text.palette.dim(source))
    text.endLine()
  }

  func writeLog(_ task: TaskID, plan: Plan, into text: inout TextBuffer) {
    text.add("log: ")
    text.addSentence(link(CleanText.string(logPath(task, plan)), task, plan))
  }
}
