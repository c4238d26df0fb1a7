/// Why a try of a task ended, where how its process ended does not say it.
package enum EndReason: Hashable, CaseIterable, Sendable {
  case timeout
  /// It could not be started; errno and `what` say why.
  case refused
  /// Its log could not be written, or something else that is kept of it: `what` says which then.
  case output
  /// A download failed in a way that another try may mend.
  case fetch
  /// A download failed for good.
  case fetchFinal
  case workerLost
  /// The run died, or was stopped, while it ran.
  case interrupted
  /// It was handed ahead and taken back.
  case revoked
  /// What it left for others is no value, or what it reads of them is not there; `what` says why.
  case value
  /// One of its inputs is missing, so that it was not started; `what` says which.
  case input
  /// It succeeded, and one of its outputs is not there; `what` says which.
  case noOutput
  /// It and all that it started used more memory than its `memory_limit`; `what` says how much.
  case memory
  /// Somebody said no to a gate; `what` says who.
  case rejected
  /// A service that is not ready, and is not going to be; `what` says why.
  case unready
  /// A service ended by itself after it was ready.
  case ended
  /// It was told to.
  case stopped(StopReason)

  package static let allCases: [EndReason] =
    [
      .timeout, .refused, .output, .fetch, .fetchFinal, .workerLost, .interrupted, .revoked, .value,
      .input, .noOutput, .memory, .rejected, .unready, .ended,
    ]
    + StopReason.allCases.map { .stopped($0) }

  /// The word in the journal and on the wire.
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

/// Why a task that runs is told to end.
package enum StopReason: UInt8, CaseIterable, Sendable {
  case cancel
  case signal
  /// At once, with no grace.
  case kill
  /// A file of the run cannot be written.
  case ioError
  /// A service that nothing needs any more, or for now: how it ends then is no failure.
  case unneeded
  /// A service that it needs is gone.
  case serviceLost
  /// The time of its machine is nearly over.
  case timeOver

  /// The word in the journal and on the wire.
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
