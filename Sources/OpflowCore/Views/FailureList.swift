/// The first failures of a drive that count, as the closing summary tells them.
struct FailureList {
  private(set) var first: [FailureRecord] = []

  /// Of more failures the summary tells only how many there were.
  static let maxDetailed = 20

  /// - Parameter stillFailed: tasks that an earlier crash interrupted, and that stay failed.
  init(stillFailed: TaskSet, plan: Plan) {
    if stillFailed.isEmpty { return }
    for index in plan.tasks where stillFailed.contains(TaskID(index)) {
      add(
        FailureRecord(
          transition: Transition(.failure, TaskID(index), reason: .interrupted), tail: []))
    }
  }

  /// The tasks of a drive that goes on already which are in that state, in the order in which they failed.
  static func joined(
    _ history: RunModel, _ model: DriveModel, _ state: TaskState
  ) -> [Transition] {
    let failed = model.plan.tasks.lazy.map { TaskID($0) }.filter { model.state($0) == state }
    return failed.sorted { history[$0].settleSequence < history[$1].settleSequence }.map { task in
      let record = history[task]
      var outcome = Outcome(status: record.status, reason: record.why?.endReason)
      outcome.usage.wallMicroseconds = record.wallMicroseconds
      var transition = Transition(.failure, task, attempt: record.attempts)
      transition.outcome = outcome
      if let complaint = history.details.complaints[task] { transition.what = complaint }
      return transition
    }
  }

  /// They are tried again.
  mutating func remove(_ tasks: [TaskID]) {
    first.removeAll { tasks.contains($0.transition.task) }
  }

  mutating func add(_ failure: FailureRecord) {
    if first.count < Self.maxDetailed { first.append(failure) }
  }
}

/// A failure as the closing summary tells it.
struct FailureRecord {
  var transition: Transition
  /// The last lines of output, each ended by a line feed.
  var tail: [UInt8]
  /// How many lines had been told with the failure itself.
  var toldLines: Int?
}
