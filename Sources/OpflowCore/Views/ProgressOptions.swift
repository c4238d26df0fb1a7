/// How progress shows on standard error.
package enum OutputMode: String, Sendable, CaseIterable {
  /// What runs, drawn anew at the bottom of a terminal.
  case live
  /// A line for each start and end, and the tasks' output as it comes.
  case line
  /// A task's output in one block when it ends.
  case group
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
  /// Blocks of `group` are folded by `::group::` lines.
  package var gitHubActions = false
  /// Of the terminal.
  package var size = TerminalSize(columns: 80, rows: 24)

  package init(mode: OutputMode) { self.mode = mode }
}

/// What is known about a drive of a run when it begins.
package struct ProgressHeading: Sendable {
  package var run: String
  /// A further drive of a run that is there already.
  package var isResumed = false
  /// The tasks that this drive is about, the reused ones among them.
  package private(set) var selected: TaskSet
  /// Tasks whose earlier result is taken over.
  package private(set) var reused: TaskSet
  /// Tasks that stay failed, since a crash interrupted them and they must not run twice.
  package private(set) var stillFailed: TaskSet
  /// Tasks that this drive leaves out and that failed before, or are not done.
  private(set) var leftFailed: [TaskID] = []
  private(set) var leftOpen: [TaskID] = []
  /// Path of a task's log as a person can use it.
  package var logPath: @Sendable (TaskID) -> String
  /// The command line that continues the run.
  package var resumeCommand: String
  /// The command line that shows what its tasks printed.
  package var logsCommand: String

  /// - Parameter initial: how each task enters the drive.
  package init(
    run: String, initial: [InitialState], resumeCommand: String, logsCommand: String,
    logPath: @escaping @Sendable (TaskID) -> String
  ) {
    self.run = run
    self.resumeCommand = resumeCommand
    self.logsCommand = logsCommand
    self.logPath = logPath
    selected = TaskSet(taskCount: initial.count)
    reused = TaskSet(taskCount: initial.count)
    stillFailed = TaskSet(taskCount: initial.count)
    for (index, state) in initial.enumerated() {
      let task = TaskID(index)
      if !state.isLeftOut { selected.insert(task) }
      if state.isReused { reused.insert(task) }
      switch state {
      case .failed: stillFailed.insert(task)
      case .leftFailed: leftFailed.append(task)
      case .leftUpstream, .leftOpen, .skipOnce: leftOpen.append(task)
      case .run, .afterNeeds, .succeeded, .upToDate, .failedAllowed, .skipped, .skippedUpstream,
        .interrupted, .skipOption, .excluded:
        break
      }
    }
  }
}

extension InitialState {
  /// It keeps the result of an earlier drive, and that is no failure.
  var isReused: Bool {
    switch self {
    case .succeeded, .upToDate, .failedAllowed, .skipped, .skippedUpstream: true
    case .run, .afterNeeds, .interrupted, .failed, .skipOption, .skipOnce, .excluded, .leftFailed,
      .leftUpstream, .leftOpen:
      false
    }
  }

  /// It is no part of the drive.
  var isLeftOut: Bool {
    switch self {
    case .excluded, .leftFailed, .leftUpstream, .leftOpen: true
    case .run, .afterNeeds, .succeeded, .upToDate, .failedAllowed, .skipped, .skippedUpstream,
      .interrupted, .failed, .skipOption, .skipOnce:
      false
    }
  }
}
