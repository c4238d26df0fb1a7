package enum TaskState: UInt8, CaseIterable, Sendable {
  /// For dependencies, a retry delay, or the phase of `finally` tasks.
  case waiting
  /// Starts as soon as its resources are free.
  case ready
  /// A worker compares inputs and outputs with those of the last success. Not journaled: nothing
  /// depends on it before the answer.
  case checking
  /// Prefetched: its start is journaled, and a worker has queued it behind another task.
  case handed
  /// Its start is journaled.
  case running
  /// Stopped by a signal; will continue.
  case suspended
  case succeeded
  /// Inputs and outputs are those of its last success.
  case upToDate
  /// Counts as a success for dependents.
  case failedAllowed
  case failed
  /// Because of `if`, `--skip` or a dependency.
  case skipped
  /// Stopped with the run, or cancelled itself.
  case cancelled

  package var isTerminal: Bool {
    switch self {
    case .waiting, .ready, .checking, .handed, .running, .suspended: false
    case .succeeded, .upToDate, .failedAllowed, .failed, .skipped, .cancelled: true
    }
  }

  /// Meets the condition `success`.
  package var isSuccess: Bool {
    self == .succeeded || self == .upToDate || self == .failedAllowed
  }

  package var holdsValues: Bool { self == .succeeded || self == .upToDate }

  package var isRunning: Bool { self == .running || self == .suspended }

  /// The legal transitions, from rows to columns (`allow` is `failedAllowed`, `hand` is `handed`).
  /// A resume is not a transition: its session starts tasks as `waiting` or in the terminal state
  /// that they keep.
  ///
  ///                 wait  ready check hand  run   susp  succ  upTo  allow fail  skip  canc
  ///   waiting             x                             k     k     x     x     x     x
  ///   ready         x           x     x     x                                   x     x
  ///   checking      x     x                             k     x     x     x
  ///   handed        x                       x                             x
  ///   running       x                             x     x           x     x           x
  ///   suspended     x                       x           x           x     x           x
  ///   failed        r
  ///   failedAllowed r
  ///   skipped       r
  ///   cancelled     r
  ///
  /// r: a retry request, also for tasks that were skipped because of the retried task.
  /// k: an earlier result stays valid because all dependencies kept theirs; may be `failedAllowed`
  /// too.
  ///
  /// - To `waiting`: from `ready` and `checking`, a dependency runs again; from `handed`, the
  ///   prefetched task is taken back; from `running` and `suspended`, a retry delay or a lost
  ///   worker.
  /// - To `ready` from `checking`: the task is not up to date, or the check was withdrawn.
  /// - To `failed`: from `waiting`, a crash interrupted a task with `on_interrupted: fail`, or its
  ///   `if` cannot be evaluated (can be allowed); from `checking`, an input is missing or the check
  ///   failed; from `handed`, the worker was lost and may have started it; from `running`, also
  ///   when the worker refuses the task.
  /// - To `cancelled` from `waiting` and `ready`: by request.
  @inline(__always)
  package func canBecome(_ next: TaskState) -> Bool {
    switch self {
    case .waiting:
      next == .ready || next == .skipped || next == .failed || next == .failedAllowed
        || next == .cancelled || next == .succeeded || next == .upToDate
    case .ready:
      next == .waiting || next == .checking || next == .handed || next == .running
        || next == .skipped || next == .cancelled
    case .checking:
      next == .waiting || next == .ready || next == .succeeded || next == .upToDate
        || next == .failed || next == .failedAllowed
    case .handed: next == .waiting || next == .running || next == .failed
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
    case .waiting, .ready, .checking, .handed, .running, .suspended, .succeeded, .upToDate: false
    }
  }

  package var word: String {
    switch self {
    case .waiting, .ready, .checking, .handed: "pending"
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
      case .waiting, .ready, .checking, .handed, .running, .suspended, .failed, .cancelled:
        return false
      }
    case .ran:
      switch self {
      case .succeeded, .upToDate, .failedAllowed: return true
      case .waiting, .ready, .checking, .handed, .running, .suspended, .failed, .skipped,
        .cancelled:
        return false
      }
    }
  }
}
