internal import OpflowCore

/// The first failures of a session that are not allowed, for its closing summary.
struct FailureList {
  private(set) var first: [FailureRecord] = []

  /// The number of failures in detail; the summary only counts the others.
  static let maxDetailed = 20

  /// - Parameter stillFailed: tasks that an earlier crash interrupted and that stay failed.
  init(stillFailed: TaskSet, plan: Plan) {
    if stillFailed.isEmpty { return }
    for index in plan.tasks where stillFailed.contains(TaskID(index)) {
      add(
        FailureRecord(
          transition: Transition(.failure, TaskID(index), reason: .interrupted), tail: []))
    }
  }

  /// Returns the tasks in `state` when a view joins a session late, in the order of their ends.
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

  /// Removes tasks that are retried.
  mutating func remove(_ tasks: [TaskID]) {
    first.removeAll { tasks.contains($0.transition.task) }
  }

  mutating func add(_ failure: FailureRecord) {
    if first.count < Self.maxDetailed { first.append(failure) }
  }
}

struct FailureRecord {
  var transition: Transition
  /// The last lines of output, each with its newline.
  var tail: [UInt8]
  /// The number of lines printed up to and including this failure; nil if it was not printed.
  var toldLines: Int?
}
