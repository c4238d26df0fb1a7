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

  package func modify(_ rawDescriptor: Int32, token: UInt64, interest: Readiness) throws(Errno) {
    try control(CLINUX_MODIFY, rawDescriptor, token, interest)
  }

  package func remove(_ rawDescriptor: Int32) throws(Errno) {
    try control(CLINUX_REMOVE, rawDescriptor, 0, [])
  }

  /// Waits at most `timeout` (nil: forever). Further events come with the next wait.
  package mutating func wait(timeout: Duration?, into events: inout [PollEvent]) throws(Errno) {
    events.removeAll(keepingCapacity: true)
    let count = try buffer.withUnsafeMutableBufferPointer { buffer throws(Errno) in
      // SAFETY: the shim fills at most `count` events.
      try call {
        clinux_epoll_wait(
          descriptor.rawValue, buffer.baseAddress, Int32(truncatingIfNeeded: buffer.count),
          timeout?.wholeNanoseconds ?? -1)
      }
    }
    for event in buffer.prefix(Int(count)) {
      events.append(PollEvent(token: event.token, readiness: Readiness(rawValue: event.readiness)))
    }
  }

  private func control(
    _ operation: some BinaryInteger, _ rawDescriptor: Int32, _ token: UInt64, _ interest: Readiness
  ) throws(Errno) {
    try call {
      clinux_epoll_control(
        descriptor.rawValue, Int32(truncatingIfNeeded: operation), rawDescriptor, interest.rawValue,
        token)
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

/// Waits for a few descriptors (ppoll(2)) that change so often that epoll registration costs more.
package struct PollSet: ~Copyable {
  package static let capacity = 8
  private var watched: [clinux_watched]

  package init(slots: Int) {
    precondition(slots <= PollSet.capacity)
    watched = [clinux_watched](
      repeating: clinux_watched(
        descriptor: -1, interest: Readiness.readable.rawValue, readiness: 0), count: slots)
  }

  package mutating func set(
    _ slot: Int, _ rawDescriptor: Int32, for interest: Readiness = .readable
  ) {
    watched[slot].descriptor = rawDescriptor
    watched[slot].interest = interest.rawValue
    watched[slot].readiness = 0
  }

  package mutating func clear(_ slot: Int) { set(slot, -1) }

  package var rawDescriptors: [Int32] { watched.map(\.descriptor).filter { $0 >= 0 } }

  package mutating func forget() {
    for slot in watched.indices { watched[slot].readiness = 0 }
  }

  package subscript(slot: Int) -> Readiness { Readiness(rawValue: watched[slot].readiness) }

  package func isReady(_ slot: Int) -> Bool { watched[slot].readiness != 0 }

  /// Returns true if a descriptor is ready. A negative time means forever.
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

/// An eventfd(2) with which one thread wakes another's poller.
package struct EventDescriptor: ~Copyable, Sendable {
  private let descriptor: Descriptor
  package var rawValue: Int32 { descriptor.rawValue }

  package init() throws(Errno) {
    descriptor = try Descriptor(owning: try call { clinux_event_descriptor() }).aboveStandard()
  }

  package func signal() throws(Errno) {
    var one: UInt64 = 1
    _ = try withUnsafeBytes(of: &one) { bytes throws(Errno) in try descriptor.write(bytes) }
  }

  /// Returns the count since the last call.
  @discardableResult
  package func take() throws(Errno) -> UInt64 {
    var count: UInt64 = 0
    do throws(Errno) {
      _ = try withUnsafeMutableBytes(of: &count) { bytes throws(Errno) in
        try descriptor.read(into: bytes)
      }
    } catch .wouldBlock {
      return 0
    }
    return count
  }
}

/// Reports changes in folders (inotify(7)). Callers must also poll: changes by other machines, on
/// NFS for example, are not reported.
package struct FolderWatch: ~Copyable {
  private let descriptor: Descriptor
  private var poll = PollSet(slots: 1)

  package init(_ folders: [String]) throws(Errno) {
    let descriptor = Descriptor(owning: try call { clinux_watch_create() })
    for folder in folders { try call { clinux_watch_folder(descriptor.rawValue, folder) } }
    self.init(descriptor)
  }

  /// Watches one file and new entries of its folder, not a file that replaces it.
  package init(file: String, in folder: String) throws(Errno) {
    let descriptor = try Descriptor(owning: try call { clinux_watch_create() }).aboveStandard()
    try call { clinux_watch_names(descriptor.rawValue, folder) }
    try call { clinux_watch_file(descriptor.rawValue, file) }
    self.init(descriptor)
  }

  private init(_ descriptor: consuming Descriptor) {
    poll.set(0, descriptor.rawValue)
    self.descriptor = descriptor
  }

  /// Returns at a change since the last call, or after `nanoseconds`.
  package mutating func wait(nanoseconds: Int64) throws(Errno) {
    if try poll.wait(nanoseconds: nanoseconds) { try takeChanges() }
  }

  /// Readable at a change since `takeChanges`.
  package var rawDescriptor: Int32 { descriptor.rawValue }

  package func takeChanges() throws(Errno) {
    var changes = [UInt8](repeating: 0, count: 4096)
    do throws(Errno) {
      while true {
        if try descriptor.read(into: &changes) == 0 { return }
      }
    } catch .wouldBlock {
      return
    }
  }
}
