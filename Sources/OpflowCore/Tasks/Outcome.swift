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

  package static var success: ExitStatus { .exit(0) }
}

/// How one try of a task ended.
package struct Outcome: Hashable, Sendable {
  package var status: ExitStatus
  /// Nil when the status says it all.
  package var reason: EndReason?
  /// 0, or why it was refused or its output could not be written.
  package var errorNumber: Int32
  package var usage: Usage

  package init(
    status: ExitStatus, reason: EndReason? = nil, errorNumber: Int32 = 0, usage: Usage = Usage()
  ) {
    self.status = status
    self.reason = reason
    self.errorNumber = errorNumber
    self.usage = usage
  }

  package var isSuccess: Bool {
    if case .exit(0) = status { reason == nil } else { false }
  }
}
