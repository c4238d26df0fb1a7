internal import OpflowPlan

/// The effects of transitions, for `TaskRecord` and `DriveModel`.
extension TransitionKind {
  /// Prefetched tasks start without a line: see `HandedTasks`.
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
    // opflow does not write these for tasks.
    case .ready, .stopping: old
    case .pause: old == .running ? .suspended : old
    case .proceed: old == .suspended ? .running : old
    }
  }

  /// A retracted prefetch never ran, and an unneeded service has done its work.
  func cutsShort(_ reason: EndReason?) -> Bool {
    self == .interrupt && reason != .revoked && reason != .stopped(.unneeded)
  }

  var endsTry: Bool {
    switch self {
    case .success, .failure, .retry, .cancel, .interrupt: true
    case .start, .skip, .pause, .proceed, .resume, .fresh, .ready, .stopping: false
    }
  }
}

extension Transition {
  func state(after old: TaskState) -> TaskState {
    kept ?? event.kind.state(after: old, isAhead: isAhead, allowed: allowed)
  }

  var cutsShort: Bool { event.kind.cutsShort(outcome.reason) }

  package var endsTry: Bool { event.kind.endsTry }
}
