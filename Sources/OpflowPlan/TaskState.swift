public enum TaskState: UInt8, CaseIterable, Sendable {
  /// Waits for dependencies, a retry delay, or the phase of `finally` tasks.
  case waiting
  /// Starts as soon as its resources are free.
  case ready
  /// A worker compares inputs and outputs with the last success. Not journaled: nothing depends on
  /// the state before the answer.
  case checking
  /// The start is journaled, and a worker has queued the task behind another one.
  case prefetched
  /// The start is journaled.
  case running
  case suspended
  case succeeded
  /// Inputs and outputs are unchanged since the last success.
  case upToDate
  /// Meets the condition `success`.
  case failedAllowed
  case failed
  /// Because of `if`, `--skip` or a dependency.
  case skipped
  /// Stopped with the run, or cancelled itself.
  case cancelled

  package var isTerminal: Bool {
    switch self {
    case .waiting, .ready, .checking, .prefetched, .running, .suspended: false
    case .succeeded, .upToDate, .failedAllowed, .failed, .skipped, .cancelled: true
    }
  }

  package var isSuccess: Bool {
    self == .succeeded || self == .upToDate || self == .failedAllowed
  }

  package var holdsValues: Bool { self == .succeeded || self == .upToDate }

  package var isRunning: Bool { self == .running || self == .suspended }

  /// The legal transitions, from rows to columns (`allow` is `failedAllowed`, `hand` is
  /// `prefetched`). A resume is not a transition: its session starts tasks as `waiting` or in the
  /// terminal state that they keep.
  ///
  ///                 wait  ready check hand  run   susp  succ  upTo  allow fail  skip  canc
  ///   waiting             x                             k     k     x     x     x     x
  ///   ready         x           x     x     x                                   x     x
  ///   checking      x     x                             k     x     x     x
  ///   prefetched    x                       x                             x
  ///   running       x                             x     x           x     x           x
  ///   suspended     x                       x           x           x     x           x
  ///   failed        r
  ///   failedAllowed r
  ///   skipped       r
  ///   cancelled     r
  ///
  /// - r: a retry request, also for tasks that were skipped because of the retried task.
  /// - k: an earlier result stays valid because all dependencies kept theirs; also `failedAllowed`.
  /// - To `waiting`: from `ready` and `checking`, a dependency runs again; from `prefetched`, the
  ///   task is taken back; from `running` and `suspended`, a retry delay or a lost worker.
  /// - To `ready` from `checking`: the task is not up to date, or the check was cancelled.
  /// - To `failed`: from `waiting`, a crash interrupted a task with `on_interrupted: fail`, or its
  ///   `if` cannot be evaluated (can be allowed); from `checking`, an input is missing or the check
  ///   failed; from `prefetched`, the worker was lost and may have started the task; from
  ///   `running`, also when the worker refuses the task.
  /// - To `cancelled` from `waiting` and `ready`: by request.
  @inline(__always)
  package func canBecome(_ next: TaskState) -> Bool {
    switch self {
    case .waiting:
      next == .ready || next == .skipped || next == .failed || next == .failedAllowed
        || next == .cancelled || next == .succeeded || next == .upToDate
    case .ready:
      next == .waiting || next == .checking || next == .prefetched || next == .running
        || next == .skipped || next == .cancelled
    case .checking:
      next == .waiting || next == .ready || next == .succeeded || next == .upToDate
        || next == .failed || next == .failedAllowed
    case .prefetched: next == .waiting || next == .running || next == .failed
    case .running:
      next == .waiting || next == .suspended || next == .succeeded || next == .failedAllowed
        || next == .failed || next == .cancelled
    case .suspended:
      next == .waiting || next == .running || next == .succeeded || next == .failedAllowed
        || next == .failed || next == .cancelled
    case .succeeded, .upToDate, .failedAllowed, .failed, .skipped, .cancelled: false
    }
  }

  package var mayBeRetried: Bool {
    switch self {
    case .failed, .failedAllowed, .skipped, .cancelled: true
    case .waiting, .ready, .checking, .prefetched, .running, .suspended, .succeeded, .upToDate:
      false
    }
  }

  package var word: String {
    switch self {
    case .waiting, .ready, .checking, .prefetched: "pending"
    case .running: "running"
    case .suspended: "suspended"
    case .succeeded: "succeeded"
    case .upToDate: "up_to_date"
    case .failedAllowed, .failed: "failed"
    case .skipped: "skipped"
    case .cancelled: "cancelled"
    }
  }

  package func meets(_ condition: NeedCondition, skippedUpstream: Bool) -> Bool {
    switch condition {
    case .finished: return isTerminal
    case .failure: return self == .failed
    case .success:
      switch self {
      case .succeeded, .upToDate, .failedAllowed: return true
      case .skipped: return !skippedUpstream
      case .waiting, .ready, .checking, .prefetched, .running, .suspended, .failed, .cancelled:
        return false
      }
    case .ran:
      switch self {
      case .succeeded, .upToDate, .failedAllowed: return true
      case .waiting, .ready, .checking, .prefetched, .running, .suspended, .failed, .skipped,
        .cancelled:
        return false
      }
    }
  }
}

package enum NeedCondition: UInt8, Sendable, CaseIterable {
  /// Success, up to date, an allowed failure, a false `if` or `--skip`.
  case success
  /// Not allowed; includes a timeout.
  case failure
  case finished
  /// Like `success`, without a false `if` and `--skip`.
  case ran

  /// Dependents then start in spite of `max_failures`.
  package var isMetByFailure: Bool {
    switch self {
    case .failure, .finished: true
    case .success, .ran: false
    }
  }
}

package enum InitialState: UInt8, Sendable {
  case run
  /// A `finally` task when tasks were named: runs if a dependency ran, else is skipped.
  case afterNeeds
  case succeeded, upToDate, failedAllowed, skipped
  /// A service that was not used in an earlier session.
  case unused
  /// Has a result and `inputs`: checked by content when ready.
  case recheck
  /// Keeps its result if all dependencies keep theirs; a `finally` task, if no task starts.
  case later
  /// A `finally` task when tasks were named: keeps its result unless a dependency runs.
  case laterAfterNeeds
  /// Skipped in an earlier session, because of its dependencies.
  case skippedUpstream
  /// A running service that this session takes over.
  case stays
  /// Ran at a crash and has `on_interrupted: fail`: fails when the session starts.
  case interrupted
  /// Failed in an earlier session, which counted the failure.
  case failed
  /// Ended in a crashed session that this one continues; may be retried.
  case stillFailed, stillCancelled, stillUpstream
  case skipOption
  /// Excluded by `--skip` in this session only.
  case skipOnce
  /// Not part of the run, or excluded by `--only` with nothing left to do.
  case excluded
  /// Excluded by `--only`; succeeded earlier.
  case leftDone
  /// Excluded by `--only`; the run is then failed or unfinished.
  case leftFailed, leftUpstream, leftOpen
}

extension InitialState {
  /// True for a start without a request of the user.
  package var mayStart: Bool {
    switch self {
    case .run, .afterNeeds, .recheck, .later, .laterAfterNeeds, .stays: true
    case .succeeded, .upToDate, .failedAllowed, .skipped, .unused, .skippedUpstream, .interrupted,
      .failed, .stillFailed, .stillCancelled, .stillUpstream, .skipOption, .skipOnce, .excluded,
      .leftDone, .leftFailed, .leftUpstream, .leftOpen:
      false
    }
  }

  /// Keeps an earlier result that is not a failure.
  package var isReused: Bool {
    switch self {
    case .succeeded, .upToDate, .failedAllowed, .skipped, .unused, .skippedUpstream: true
    case .run, .recheck, .later, .laterAfterNeeds, .afterNeeds, .interrupted, .failed, .stillFailed,
      .stillCancelled, .stillUpstream, .skipOption, .skipOnce, .excluded, .leftDone, .stays,
      .leftFailed, .leftUpstream, .leftOpen:
      false
    }
  }

  package var isLeftOut: Bool {
    switch self {
    case .excluded, .leftDone, .leftFailed, .leftUpstream, .leftOpen: true
    case .run, .recheck, .later, .laterAfterNeeds, .afterNeeds, .succeeded, .upToDate,
      .failedAllowed, .skipped, .unused, .skippedUpstream,
      .interrupted, .failed, .stillFailed, .stillCancelled, .stillUpstream, .skipOption, .skipOnce,
      .stays:
      false
    }
  }
}

package struct EarlierResult: Equatable, Sendable {
  package var state: TaskState
  package var origin: UInt64?
  package var isSkippedUpstream = false

  package init(state: TaskState, origin: UInt64?, isSkippedUpstream: Bool = false) {
    self.state = state
    self.origin = origin
    self.isSkippedUpstream = isSkippedUpstream
  }
}
