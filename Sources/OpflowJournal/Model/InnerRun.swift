package import OpflowPlan

/// A run that a task of another run started.
package struct InnerRun: Equatable, Sendable {
  package let run: RunID
  package let counts: TaskCounts

  package init(run: RunID, counts: TaskCounts) {
    self.run = run
    self.counts = counts
  }
}
