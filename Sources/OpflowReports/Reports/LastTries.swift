internal import OpflowCore

/// The newest attempt of each task.
struct LastTries {
  private let attempts: [TaskAttempt]
  /// Per task; -1 if never started.
  private let places: [Int32]

  init(_ status: RunStatus) {
    attempts = status.history.attempts.all
    var places = [Int32](repeating: -1, count: status.plan.taskCount)
    for (place, attempt) in attempts.enumerated() {
      places[attempt.task.index] = Int32(truncatingIfNeeded: place)
    }
    self.places = places
  }

  subscript(task: TaskID) -> TaskAttempt? {
    places[task.index] < 0 ? nil : attempts[Int(places[task.index])]
  }
}
