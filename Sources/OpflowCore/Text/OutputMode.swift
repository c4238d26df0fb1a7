/// How progress is shown on standard error.
package enum OutputMode: String, Sendable, CaseIterable {
  /// Running tasks, redrawn at the bottom of a terminal.
  case live
  /// A line per start and end, and the tasks' output as it comes.
  case line
  /// A task's output in one block when it ends.
  case group
  /// Like `group`, folded for the log of a GitHub job, with annotations for failures.
  case gitHub = "github"
  /// Like `group`, in the sections of GitLab's logs.
  case gitLab = "gitlab"
  /// Failures and the summary only.
  case quiet
}
