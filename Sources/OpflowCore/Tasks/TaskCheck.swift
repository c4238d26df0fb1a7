/// A request to check whether a task is up to date by content.
package struct TaskCheck: Equatable, Sendable {
  package var task: TaskID
  /// Matches the answer to the request; a task may be checked again.
  package var serial: Int32
  /// A hash of the arguments and of the values that the task reads; nil if it has neither.
  package var with: UInt64?
  /// A hash of the current successes of its dependencies without declared outputs, except
  /// `skipped`.
  package var needs: UInt64
  /// Dependencies with `inputs` that `--skip` excludes; their last results may still be valid.
  package var skipped: [TaskID] = []
  /// The limit of a message. Further ones count as having no result.
  static let mostSkipped = 64
  /// Whether the user requested the task: it is checked, then runs in any case.
  package var isAsked: Bool
  /// Counts changes in this session: finished and restored tasks. The worker caches the output of
  /// commands for the same count only.
  package var after: Int32

  /// The origin of an allowed failure in an earlier session that the task may keep.
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

/// The answer to a `TaskCheck`.
package enum CheckResult: Equatable, Sendable {
  /// Up to date since the success with this origin.
  case fresh(origin: UInt64)
  /// Not up to date; the reason.
  case stale(why: String)
  /// The task cannot start because an input is missing or unreadable; the message.
  case unfit(what: String)
  /// The result could not be recorded, so the run stops; the message.
  case unwritten(what: String)
}
