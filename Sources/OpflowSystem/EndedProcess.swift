internal import CLinux

/// A reaped process.
package struct EndedProcess: Sendable, Equatable {
  package enum Which: Sendable {
    case any
    case pid(Int32)
    /// A pidfd.
    case descriptor(Int32)
  }

  package enum Status: Sendable, Equatable {
    case exit(Int32)
    case signal(Int32)
  }
  package let pid: Int32
  package let status: Status
  /// Including children that it waited for.
  package let userMicroseconds: Int64
  package let systemMicroseconds: Int64
  package let peakKibibytes: Int64

  /// Returns nil while the child runs; throws `noChild` if it does not exist.
  package static func reap(_ which: Which, block: Bool) throws(Errno) -> EndedProcess? {
    var ended = clinux_ended()
    let (kind, id): (Int, Int32) =
      switch which {
      case .any: (CLINUX_WAIT_ANY, 0)
      case .pid(let pid): (CLINUX_WAIT_PID, pid)
      case .descriptor(let descriptor): (CLINUX_WAIT_PIDFD, descriptor)
      }
    try call { clinux_reap(Int32(truncatingIfNeeded: kind), id, block ? 1 : 0, &ended) }
    if ended.pid == 0 { return nil }
    return EndedProcess(
      pid: ended.pid,
      status: ended.by_signal != 0 ? .signal(ended.status) : .exit(ended.status),
      userMicroseconds: ended.user_microseconds, systemMicroseconds: ended.system_microseconds,
      peakKibibytes: ended.peak_kibibytes)
  }
}
