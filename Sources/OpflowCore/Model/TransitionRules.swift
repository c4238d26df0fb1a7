/// What transitions do to tasks, for every fold of them: that of a journal's lines (`TaskRecord`) and
/// that of a drive as it goes (`DriveModel`).
extension TransitionKind {
  /// The state of a task after it. A worker begins with what it was handed ahead without a line of its
  /// own: see `HandedTasks`.
  @inline(__always)
  func state(after old: TaskState, isAhead: Bool, allowed: Bool) -> TaskState {
    switch self {
    case .start: isAhead ? .handed : .running
    case .success: .succeeded
    case .failure: allowed ? .failedAllowed : .failed
    case .skip: .skipped
    case .fresh: .upToDate
    case .cancel: .cancelled
    case .retry, .interrupt, .resume: .waiting
    // Lines of the whole run speak of no task; others are of no known opflow.
    case .ready, .stopping: old
    case .pause: old == .running ? .suspended : old
    case .proceed: old == .suspended ? .running : old
    }
  }

  /// Whether it cut a try short. What was handed ahead and taken back never ran, and a service that is not
  /// needed for a while did all that it had to.
  func cutsShort(_ reason: EndReason?) -> Bool {
    self == .interrupt && reason != .revoked && reason != .stopped(.unneeded)
  }

  /// Whether a try of the task is over with it.
  var endsTry: Bool {
    switch self {
    case .success, .failure, .retry, .cancel, .interrupt: true
    case .start, .skip, .pause, .proceed, .resume, .fresh, .ready, .stopping: false
    }
  }
}

extension Transition {
  /// The state of its task after it.
  func state(after old: TaskState) -> TaskState {
    kept ?? event.kind.state(after: old, isAhead: isAhead, allowed: allowed)
  }

  /// Whether its task has found out the tasks of its matrix, and there are none. The journal has it as a success,
  /// which a resume does not repeat; views show it as the skip of a matrix that is empty from the start.
  var isOfEmptyMatrix: Bool { event == .success && what == Plan.emptyMatrixText }

  /// Whether it cut a try short.
  var cutsShort: Bool { event.kind.cutsShort(outcome.reason) }

  /// Whether a try of the task is over with it.
  package var endsTry: Bool { event.kind.endsTry }
}
