/// Asks whether a task is up to date by content.
package struct TaskCheck: Equatable, Sendable {
  package var task: TaskID
  /// Matches the answer to the request.
  package var serial: Int32
  /// Of arguments and of values that the task reads; nil if it has neither.
  package var with: UInt64?
  /// Of the current successes of its dependencies without declared outputs, except `skipped`.
  package var needs: UInt64
  /// Dependencies with `inputs` that `--skip` excludes; their last results may still be valid.
  package var skipped: [TaskID] = []
  /// As fits a message. Further ones count as having no result.
  package static let mostSkipped = 64
  /// By the user: the task is checked, then runs in any case.
  package var isAsked: Bool
  /// Counts finished and restored tasks: the worker caches the output of commands for the same
  /// count only.
  package var after: Int32

  /// Of an allowed failure in an earlier session that the task may keep.
  package var keeps: UInt64?

  package init(
    task: TaskID, serial: Int32, with: UInt64?, needs: UInt64, isAsked: Bool, after: Int32 = 0
  ) {
    self.task = task
    self.serial = serial
    self.with = with
    self.needs = needs
    self.isAsked = isAsked
    self.after = after
  }
}

package enum CheckResult: Equatable, Sendable {
  /// Since the success with this origin.
  case fresh(origin: UInt64)
  case stale(why: String)
  /// An input is missing or unreadable, so the task cannot start.
  case unfit(what: String)
  /// The result could not be recorded, so the run stops.
  case unwritten(what: String)
}
