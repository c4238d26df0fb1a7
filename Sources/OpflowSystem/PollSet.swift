internal import CLinux

/// Waits for a few descriptors (ppoll(2)) where they change so often that epoll registration costs
/// more.
package struct PollSet: ~Copyable {
  package static let capacity = 8
  private var watched: [clinux_watched]

  package init(slots: Int) {
    precondition(slots <= PollSet.capacity)
    watched = [clinux_watched](
      repeating: clinux_watched(
        descriptor: -1, interest: Readiness.readable.rawValue, readiness: 0),
      count: slots)
  }

  package mutating func set(
    _ slot: Int, _ rawDescriptor: Int32, for interest: Readiness = .readable
  ) {
    watched[slot].descriptor = rawDescriptor
    watched[slot].interest = interest.rawValue
    watched[slot].readiness = 0
  }

  package mutating func clear(_ slot: Int) { set(slot, -1) }

  /// For callers that wait in another set.
  package var rawDescriptors: [Int32] { watched.map(\.descriptor).filter { $0 >= 0 } }

  package mutating func forget() {
    for slot in watched.indices { watched[slot].readiness = 0 }
  }

  package subscript(slot: Int) -> Readiness { Readiness(rawValue: watched[slot].readiness) }

  /// Readable, hung up or failed.
  package func isReady(_ slot: Int) -> Bool { watched[slot].readiness != 0 }

  /// Returns whether a descriptor is ready. A negative time means forever.
  package mutating func wait(nanoseconds: Int64) throws(Errno) -> Bool {
    let count = try watched.withUnsafeMutableBufferPointer { watched throws(Errno) in
      // SAFETY: the shim reads and fills exactly `count` entries.
      try call {
        clinux_poll(watched.baseAddress, Int32(truncatingIfNeeded: watched.count), nanoseconds)
      }
    }
    return count > 0
  }
}

extension PollSet {
  package static func pause(nanoseconds: Int64) throws(Errno) {
    var nothing = PollSet(slots: 0)
    _ = try nothing.wait(nanoseconds: nanoseconds)
  }
}
