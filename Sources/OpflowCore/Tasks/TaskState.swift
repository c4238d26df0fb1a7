/// Where a task stands.
package enum TaskState: UInt8, CaseIterable, Sendable {
  /// For its needs, for a retry's delay, or for the turn of `finally`.
  case waiting
  /// May start as soon as its resources are free.
  case ready
  /// A worker looks whether its inputs and outputs are those of its last success. Not journaled: nothing
  /// follows from it before the answer.
  case checking
  /// Its start is journaled; a worker has it, behind another one, and has not said that it began.
  case handed
  /// Its start is journaled; a worker has it.
  case running
  /// Its process tree is stopped by a signal, and goes on later.
  case suspended
  case succeeded
  /// `inputs` and `outputs` are those of its last success.
  case upToDate
  /// Failed, and its dependents see a success.
  case failedAllowed
  case failed
  /// Never ran: by `if`, by `--skip`, or because its needs cannot be met.
  case skipped
  /// Was running when the run was stopped on request, or was cancelled by itself.
  case cancelled

  package var isTerminal: Bool {
    switch self {
    case .waiting, .ready, .checking, .handed, .running, .suspended: false
    case .succeeded, .upToDate, .failedAllowed, .failed, .skipped, .cancelled: true
    }
  }

  /// Whether it has an end that meets `success`.
  package var isSuccess: Bool {
    self == .succeeded || self == .upToDate || self == .failedAllowed
  }

  /// Whether what it left for others holds.
  package var holdsValues: Bool { self == .succeeded || self == .upToDate }

  /// Whether a worker has begun with it, and it has no end.
  package var isRunning: Bool { self == .running || self == .suspended }

  /// The table of legal transitions. Nothing leaves a terminal state but by an explicit resume,
  /// which is no transition: it makes a new drive of the run, whose tasks begin in `waiting` or in
  /// the terminal state that they keep; and by an order to retry (o), with what was skipped for want of
  /// the task (`mayBeRetried`).
  ///
  ///             waiting ready checking handed running suspended succeeded upToDate failedAllowed failed skipped cancelled
  ///   waiting              x                                      k         k        x              x      x        x
  ///   ready        x                x        x      x                                                       x        x
  ///   checking     x       x                                           k    x        x              x
  ///   handed       x                                x                                               x
  ///   running      x                                       x      x                  x              x               x
  ///   suspended    x                                x             x                  x              x               x
  ///
  ///   failed       o        (allowed or not)
  ///   skipped      o
  ///   cancelled    o
  ///
  /// k: a result of an earlier drive, which holds since all that the task needs kept its own; so may
  /// `failedAllowed` be. From `checking` back to `ready`: it is not up to date, or nobody is to look any more;
  /// to a failure: an input of it is missing, or nobody can look.
  ///
  /// Back to `waiting`: from `ready` and `checking` a need that runs again, from `handed` one that is taken back, from
  /// `running` and `suspended` a retry's delay and a lost worker. `waiting` to `failed`: a task that a
  /// crash interrupted and whose `on_interrupted` is `fail`, and one whose `if` cannot be decided, which
  /// may be allowed to. `handed` to `failed`: its worker was lost,
  /// and may have begun with it. `running` to `failed` covers a worker's refusal. `waiting` and `ready` to
  /// `cancelled`: by an order.
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

  /// Whether an order to retry may take a task out of it.
  package var mayBeRetried: Bool {
    switch self {
    case .failed, .failedAllowed, .skipped, .cancelled: true
    case .waiting, .ready, .checking, .handed, .running, .suspended, .succeeded, .upToDate: false
    }
  }

  /// The word of `status`.
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

  /// Whether an edge with `condition` from a task that ended so is met.
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
