internal import CLinux

/// Waits for a few descriptors (ppoll(2)). Meant for loops whose descriptors change so often that
/// epoll registration costs more than the wait.
package struct PollSet: ~Copyable {
  package static let capacity = 8
  private var watched: [clinux_watched]

  /// Makes a set of `slots` empty slots.
  package init(slots: Int) {
    precondition(slots <= PollSet.capacity)
    watched = [clinux_watched](
      repeating: clinux_watched(
        descriptor: -1, interest: Readiness.readable.rawValue, readiness: 0),
      count: slots)
  }

  /// Watches `rawDescriptor` in `slot`, replacing what was there.
  package mutating func set(
    _ slot: Int, _ rawDescriptor: Int32, for interest: Readiness = .readable
  ) {
    watched[slot].descriptor = rawDescriptor
    watched[slot].interest = interest.rawValue
    watched[slot].readiness = 0
  }

  package mutating func clear(_ slot: Int) { set(slot, -1) }

  /// The watched descriptors, for callers that wait for them in another set.
  package var rawDescriptors: [Int32] { watched.map(\.descriptor).filter { $0 >= 0 } }

  /// Clears the results of the last wait.
  package mutating func forget() {
    for slot in watched.indices { watched[slot].readiness = 0 }
  }

  /// The result of the last wait.
  package subscript(slot: Int) -> Readiness { Readiness(rawValue: watched[slot].readiness) }

  /// Whether the last wait found input, a hang-up or an error.
  package func isReady(_ slot: Int) -> Bool { watched[slot].readiness != 0 }

  /// Waits until a descriptor is ready or the time is over; negative means forever. Returns whether
  /// any is ready.
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
