/// The resources that an attempt and its children used.
package struct Usage: Hashable, Sendable {
  package var wallMicroseconds: Int64 = 0
  package var userMicroseconds: Int64 = 0
  package var systemMicroseconds: Int64 = 0
  /// The largest resident set of one process (getrusage(2), ru_maxrss).
  package var peakKibibytes: Int64 = 0
  package var outputBytes: Int64 = 0
  package init() {}
}

package enum ExitStatus: Hashable, Sendable {
  /// It never ran, or the status was lost.
  case unknown
  case exit(Int32)
  case signal(Int32)

  package static var success: ExitStatus { .exit(0) }
}

package struct Outcome: Hashable, Sendable {
  package var status: ExitStatus
  /// Nil if the status says it all.
  package var reason: EndReason?
  /// Of a failed start or output; otherwise 0.
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
