/// How progress is shown on standard error.
package enum OutputMode: String, Sendable, CaseIterable {
  /// Running tasks, redrawn at the bottom of a terminal.
  case live
  /// A line per start and end, and output as it comes.
  case line
  /// A task's output in one block when it ends.
  case group
  /// Like `group`, folded for GitHub's log, with annotations for failures.
  case gitHub = "github"
  /// Like `group`, in sections of GitLab's log.
  case gitLab = "gitlab"
  /// Failures and the summary only.
  case quiet
}
