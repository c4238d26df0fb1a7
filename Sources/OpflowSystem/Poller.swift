internal import CLinux

package struct Readiness: OptionSet, Sendable {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let readable = Readiness(rawValue: UInt32(CLINUX_READABLE))
  package static let writable = Readiness(rawValue: UInt32(CLINUX_WRITABLE))
  /// The other end is closed; unread bytes may remain. Reported without being requested.
  package static let hangup = Readiness(rawValue: UInt32(CLINUX_HANGUP))
  /// Reported without being requested.
  package static let error = Readiness(rawValue: UInt32(CLINUX_ERROR))
}

package struct PollEvent: Sendable {
  package let token: UInt64
  package let readiness: Readiness
}

/// Waits for many descriptors (epoll(7), level-triggered).
package struct Poller: ~Copyable {
  private let descriptor: Descriptor
  // The most events of one wait.
  private var buffer = [clinux_event](repeating: clinux_event(), count: 256)

  package init() throws(Errno) {
    descriptor = Descriptor(owning: try call { clinux_epoll_create() })
  }

  /// Readable when `wait` would return events.
  package var rawDescriptor: Int32 { descriptor.rawValue }

  /// The owner must remove the descriptor before closing it.
  package func add(
    _ rawDescriptor: Int32, token: UInt64, interest: Readiness = .readable
  ) throws(Errno) {
    try control(CLINUX_ADD, rawDescriptor, token, interest)
  }

  package func modify(
    _ rawDescriptor: Int32, token: UInt64, interest: Readiness
  ) throws(Errno) {
    try control(CLINUX_MODIFY, rawDescriptor, token, interest)
  }

  package func remove(_ rawDescriptor: Int32) throws(Errno) {
    try control(CLINUX_REMOVE, rawDescriptor, 0, [])
  }

  /// Replaces `events`, waiting at most `timeout` (nil: forever). Further events come with the next
  /// wait.
  package mutating func wait(timeout: Duration?, into events: inout [PollEvent]) throws(Errno) {
    events.removeAll(keepingCapacity: true)
    let epoll = descriptor.rawValue
    let count = try buffer.withUnsafeMutableBufferPointer { buffer throws(Errno) in
      // SAFETY: the shim fills at most `count` events.
      try call {
        clinux_epoll_wait(
          epoll, buffer.baseAddress, Int32(truncatingIfNeeded: buffer.count),
          timeout?.wholeNanoseconds ?? -1)
      }
    }
    for event in buffer.prefix(Int(count)) {
      events.append(
        PollEvent(token: event.token, readiness: Readiness(rawValue: event.readiness)))
    }
  }

  private func control(
    _ operation: some BinaryInteger, _ rawDescriptor: Int32, _ token: UInt64, _ interest: Readiness
  ) throws(Errno) {
    let epoll = descriptor.rawValue
    try call {
      clinux_epoll_control(
        epoll, Int32(truncatingIfNeeded: operation), rawDescriptor, interest.rawValue, token)
    }
  }
}

extension Duration {
  /// At least 0, at most Int64.max (292 years).
  package var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    if seconds < 0 || attoseconds < 0 { return 0 }
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    if overflow { return .max }
    let (sum, overflowed) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
    return overflowed ? .max : sum
  }
}
