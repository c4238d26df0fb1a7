/// Why something happened to a task. The text is what stands in the journal and on the wire.
package enum Reason: UInt8, CaseIterable, Sendable {
  case none
  // Ends
  case timeout
  /// It could not be started; errno and `what` say why.
  case refused
  /// Its log could not be written.
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
  // Stops
  case cancel
  case signal
  /// At once, with no grace.
  case kill
  // Skips
  case condition
  case skipOption
  case upstream
  // Why a resume runs it again
  case changed
  case afterRerun
  case failedBefore
  case skippedBefore
  case outputMissing
  /// The journal is damaged where a line may have stood that took its result back.
  case unproven
  case asked
  case new

  package var text: String { staticText.description }

  private var staticText: StaticString {
    switch self {
    case .none: ""
    case .timeout: "timeout"
    case .refused: "refused"
    case .output: "output"
    case .fetch: "fetch"
    case .fetchFinal: "fetch-final"
    case .workerLost: "worker-lost"
    case .interrupted: "interrupted"
    case .revoked: "revoked"
    case .cancel: "cancel"
    case .signal: "signal"
    case .kill: "kill"
    case .condition: "if"
    case .skipOption: "--skip"
    case .upstream: "upstream"
    case .changed: "changed"
    case .afterRerun: "after rerun"
    case .failedBefore: "failed before"
    case .skippedBefore: "skipped before"
    case .outputMissing: "output missing"
    case .unproven: "unproven"
    case .asked: "asked"
    case .new: "new"
    }
  }

  package init?(text: UnsafeRawBufferPointer) {
    guard let reason = Reason.allCases.first(where: { text.equals($0.staticText) }) else {
      return nil
    }
    self = reason
  }
}

/// What a task took. Times in microseconds, its children's included.
package struct Usage: Hashable, Sendable {
  package var wallMicroseconds: Int64 = 0
  package var userMicroseconds: Int64 = 0
  package var systemMicroseconds: Int64 = 0
  /// Largest resident set of one process, in KiB (getrusage(2), ru_maxrss).
  package var peakKibibytes: Int64 = 0
  package var outputBytes: Int64 = 0
  package init() {}
}

/// How a process ended (wait(2)).
package enum ExitStatus: Hashable, Sendable {
  /// It never ran, or nobody can tell.
  case unknown
  case exit(Int32)
  case signal(Int32)

  package static let success = ExitStatus.exit(0)
}

/// How one try of a task ended.
package struct Outcome: Hashable, Sendable {
  package var status: ExitStatus
  /// `none` when the status says it all.
  package var reason: Reason
  /// 0, or why it was refused or its output could not be written.
  package var errorNumber: Int32
  package var usage: Usage

  package init(
    status: ExitStatus, reason: Reason = .none, errorNumber: Int32 = 0, usage: Usage = Usage()
  ) {
    self.status = status
    self.reason = reason
    self.errorNumber = errorNumber
    self.usage = usage
  }

  package var isSuccess: Bool { status == .success && reason == .none }
}
