/// The question whether a task is up to date by content.
package struct TaskCheck: Equatable, Sendable {
  package var task: TaskID
  /// By which the answer is known: a task may be asked about again.
  package var serial: Int32
  /// A hash of the values that it reads of other tasks, and of its arguments; nil where it reads none.
  package var with: UInt64?
  /// A hash of which successes of the tasks that it needs hold, of those that declare no outputs; but for
  /// `skipped`.
  package var needs: UInt64
  /// Those of them that were skipped by wish and declare `inputs`: what they did last may hold still.
  package var skipped: [TaskID] = []
  /// So many of them fit a message; more are as ones that left nothing.
  static let mostSkipped = 64
  /// Somebody asked for it to run: it is looked at, and runs however it is.
  package var isAsked: Bool
  /// How many tasks have ended in this drive, or come back since another run had them: each may have changed what
  /// commands print.
  package var after: Int32

  /// The number of an allowed failure in an earlier drive of the run, which the task may come to keep.
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

/// The answer.
package enum CheckResult: Equatable, Sendable {
  /// It is: by the success with that number.
  case fresh(origin: UInt64)
  /// It is not; why, for people.
  case stale(why: String)
  /// It cannot be started, since something that it reads is not there or cannot be read; what, for people.
  case unfit(what: String)
  /// What was seen cannot be written down, so that nothing of the run goes on; what and where, for people.
  case unwritten(what: String)
}
