/// How progress shows on standard error.
package enum OutputMode: String, Sendable, CaseIterable {
  /// What runs, drawn anew at the bottom of a terminal.
  case live
  /// A line for each start and end, and the tasks' output as it comes.
  case line
  /// A task's output in one block when it ends.
  case group
  /// The same as the log of a job on GitHub folds it, with annotations for what failed.
  case gitHub = "github"
  /// The same in the sections of GitLab's logs.
  case gitLab = "gitlab"
  /// Failures and the summary.
  case quiet
}

/// What a person chose about progress, and what is known of where it goes.
package struct ProgressOptions: Sendable, Equatable {
  package var mode: OutputMode
  /// State transitions as JSON lines on standard output besides.
  package var json = false
  package var color = false
  /// Starts tell the command too.
  package var verbose = false
  /// Failures are annotations of a step on GitHub too, whatever the mode.
  package var annotates = false
  /// What tasks print may be commands for the CI server.
  package var passesCommands = true
  /// What the terminal understands beside text.
  package var signals = TerminalSignals()
  /// Of the terminal.
  package var size = TerminalSize(columns: 80, rows: 24)

  package init(mode: OutputMode) { self.mode = mode }
}

/// What is known about a drive of a run when it begins. What it tells of a task it tells by the plan as that is
/// then, which may have grown.
package struct ProgressHeading: Sendable {
  package var run: String
  /// A further drive of a run that is there already.
  package var isResumed = false
  let scope: DriveScope
  /// What was ordered of a drive that this one goes on with.
  package var orders = OrderRecords()
  /// Path of a task's log as a person can use it.
  package var logPath: @Sendable (TaskID, Plan) -> String
  /// The command line that continues the run.
  var resumeCommand: String { resume() }
  private let resume: @Sendable () -> String
  /// The command line that shows what its tasks printed.
  var logsCommand: String { logs() }
  private let logs: @Sendable () -> String
  /// The capacity of `cpu` as the drive begins; nil where that is not known.
  package var parallel: Int64?
  /// How much there is of each resource as the drive begins, and after how many failures nothing more starts; 0
  /// for never. With how long tasks are taken to last, that tells how long the drive takes.
  package var capacities: [UInt64] = []
  package var maxFailures = 0
  package var durations = TaskDurations.unknown
  /// Makes a clean text lead to the log of a task, where the terminal can do that.
  package var link: @Sendable (_ text: String, TaskID, Plan) -> String = { text, _, _ in text }
  /// Where a task stands, for annotations: a path as the CI server knows it, and a line.
  package var place: @Sendable (TaskID, Plan) -> (file: String, line: Int)? = { _, _ in nil }
  /// The same as a person finds it, `PATH:LINE`; empty where that is not known.
  package var standing: @Sendable (TaskID, Plan) -> String = { _, _ in "" }
  package var orderCommand: OrderLineText = OrderVerb.plainCommand

  /// - Parameters:
  ///   - initial: how each task enters the drive.
  ///   - resumeCommand: put together when somebody is to read it, as the other one is.
  package init(
    run: String, initial: [InitialState],
    resumeCommand: @autoclosure @escaping @Sendable () -> String,
    logsCommand: @autoclosure @escaping @Sendable () -> String,
    logPath: @escaping @Sendable (TaskID, Plan) -> String
  ) {
    self.run = run
    scope = DriveScope(initial)
    resume = resumeCommand
    logs = logsCommand
    self.logPath = logPath
  }

  /// `  opflow.yaml:12: make test`, below a failure: where its task stands, and what that does.
  func writeSource(
    of transition: Transition, plan: Plan, _ palette: Palette, into text: inout TextBuffer
  ) {
    guard transition.event == .failure, !transition.allowed else { return }
    let task = transition.task
    // What was to be downloaded is said with why that failed.
    let action = plan.kind(task) == .download ? "" : ActionText.text(task, plan: plan)
    let parts = [CleanText.string(standing(task, plan)), action]
    let source = parts.filter { !$0.isEmpty }.joined(separator: ": ")
    if source.isEmpty { return }
    text.add("  ")
    text.addSentence(palette.dim(source))
    text.endLine()
  }

  /// `log: PATH`
  func writeLog(_ task: TaskID, plan: Plan, into text: inout TextBuffer) {
    text.add("log: ")
    text.addSentence(link(CleanText.string(logPath(task, plan)), task, plan))
  }
}
