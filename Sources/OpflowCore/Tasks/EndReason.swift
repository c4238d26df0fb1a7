/// Why an attempt ended, if the exit status does not tell.
package enum EndReason: Hashable, CaseIterable, Sendable {
  case timeout
  /// The attempt could not start; see errno and `what`.
  case refused
  /// Its log or another record could not be written; see `what`.
  case output
  /// A download failed; a retry may help.
  case fetch
  /// A download failed permanently.
  case fetchFinal
  case workerLost
  /// The run crashed or was stopped while the attempt ran.
  case interrupted
  /// The task was prefetched and returned to the queue.
  case revoked
  /// An invalid value of its own, or a missing value of a dependency; see `what`.
  case value
  /// A missing input, so the task did not start; see `what`.
  case input
  /// The command succeeded, but an output is missing; see `what`.
  case noOutput
  /// The process tree exceeded `memory_limit`; see `what`.
  case memory
  /// The user rejected an approval; `what` says who.
  case rejected
  /// A service did not become ready and will not; see `what`.
  case unready
  /// A service exited after it was ready.
  case ended
  /// opflow stopped it.
  case stopped(StopReason)

  package static let allCases: [EndReason] =
    [
      .timeout, .refused, .output, .fetch, .fetchFinal, .workerLost, .interrupted, .revoked, .value,
      .input, .noOutput, .memory, .rejected, .unready, .ended,
    ]
    + StopReason.allCases.map { .stopped($0) }

  /// The name in the journal and in messages.
  package var word: StaticString {
    switch self {
    case .timeout: "timeout"
    case .refused: "refused"
    case .output: "output"
    case .fetch: "fetch"
    case .fetchFinal: "fetch-final"
    case .workerLost: "worker-lost"
    case .interrupted: "interrupted"
    case .revoked: "revoked"
    case .value: "value"
    case .input: "input"
    case .noOutput: "no-output"
    case .memory: "memory"
    case .rejected: "rejected"
    case .unready: "unready"
    case .ended: "ended"
    case .stopped(let reason): reason.word
    }
  }

  package init?(word: UnsafeRawBufferPointer) {
    guard let reason = Self.allCases.first(where: { word.equals($0.word) }) else { return nil }
    self = reason
  }
}

/// Why opflow stops a running task.
package enum StopReason: UInt8, CaseIterable, Sendable {
  case cancel
  case signal
  /// Immediately, without a grace period.
  case kill
  /// A file of the run cannot be written.
  case ioError
  /// A service without running dependents, at least for now. Its end is not a failure.
  case unneeded
  /// A service that the task uses has ended.
  case serviceLost
  /// The time limit of its node is almost reached.
  case timeOver

  /// The name in the journal and in messages.
  package var word: StaticString {
    switch self {
    case .cancel: "cancel"
    case .signal: "signal"
    case .kill: "kill"
    case .ioError: "io-error"
    case .unneeded: "unneeded"
    case .serviceLost: "service-lost"
    case .timeOver: "time-over"
    }
  }

  package init?(word: UnsafeRawBufferPointer) {
    guard let reason = Self.allCases.first(where: { word.equals($0.word) }) else { return nil }
    self = reason
  }
}
