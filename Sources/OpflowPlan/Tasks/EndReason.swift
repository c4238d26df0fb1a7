internal import OpflowBase

/// Why an attempt ended, if the exit status does not tell.
package enum EndReason: Hashable, CaseIterable, Sendable {
  case timeout
  /// Could not start; see errno and `what`.
  case refused
  /// A log or another record could not be written; see `what`.
  case output
  /// A retry may help.
  case fetch
  /// Permanent.
  case fetchFinal
  case workerLost
  /// The run crashed or was stopped.
  case interrupted
  /// A prefetched task returned to the queue.
  case revoked
  /// An invalid value, or a missing value of a dependency; see `what`.
  case value
  /// A missing input; see `what`.
  case input
  /// The command succeeded, but an output is missing; see `what`.
  case noOutput
  /// Exceeded `memory_limit`; see `what`.
  case memory
  /// By the user; `what` says who.
  case rejected
  /// A service that will not become ready; see `what`.
  case unready
  /// A service that exited after it was ready.
  case ended
  case stopped(StopReason)

  package static let allCases: [EndReason] =
    [
      .timeout, .refused, .output, .fetch, .fetchFinal, .workerLost, .interrupted, .revoked, .value,
      .input, .noOutput, .memory, .rejected, .unready, .ended,
    ]
    + StopReason.allCases.map { .stopped($0) }

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

package enum StopReason: UInt8, CaseIterable, Sendable {
  case cancel
  case signal
  /// Without a grace period.
  case kill
  /// A file of the run cannot be written.
  case ioError
  /// A service without running dependents. Its end is not a failure.
  case unneeded
  /// Of a service that the task uses.
  case serviceLost
  /// The time limit of its node is almost reached.
  case timeOver

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
