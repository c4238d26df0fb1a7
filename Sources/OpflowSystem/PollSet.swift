internal import CLinux

/// Waits for a handful of descriptors (ppoll(2)): for a loop whose descriptors come and go so fast
/// that registering each costs more than the wait.
package struct PollSet: ~Copyable {
  package static let capacity = 8
  private var watched: [clinux_watched]

  /// `slots` places, all empty.
  package init(slots: Int) {
    precondition(slots <= PollSet.capacity)
    watched = [clinux_watched](
      repeating: clinux_watched(
        descriptor: -1, interest: Readiness.readable.rawValue, readiness: 0),
      count: slots)
  }

  /// Watches `rawDescriptor` in place of what `slot` had.
  package mutating func set(
    _ slot: Int, _ rawDescriptor: Int32, for interest: Readiness = .readable
  ) {
    watched[slot].descriptor = rawDescriptor
    watched[slot].interest = interest.rawValue
    watched[slot].readiness = 0
  }

  package mutating func clear(_ slot: Int) { set(slot, -1) }

  /// What is watched, for whoever waits for it together with other things.
  package var rawDescriptors: [Int32] { watched.map(\.descriptor).filter { $0 >= 0 } }

  /// As after a wait that found nothing.
  package mutating func forget() {
    for slot in watched.indices { watched[slot].readiness = 0 }
  }

  /// What the last wait found.
  package subscript(slot: Int) -> Readiness { Readiness(rawValue: watched[slot].readiness) }

  /// Whether the last wait found anything there: bytes, a hang-up or an error.
  package func isReady(_ slot: Int) -> Bool { watched[slot].readiness != 0 }

  /// Waits until a descriptor is ready or the time has passed; negative is for ever. Returns whether
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
  /// Lets so much time pass.
  package static func pause(nanoseconds: Int64) throws(Errno) {
    var nothing = PollSet(slots: 0)
    _ = try nothing.wait(nanoseconds: nanoseconds)
  }
}
