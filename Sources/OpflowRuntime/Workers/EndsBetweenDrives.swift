internal import OpflowSystem

/// Waits for services that end between two sessions. A first stop signal is kept for the next
/// session, a second ends all waiting.
struct EndsBetweenDrives: ~Copyable {
  private var signals: SignalDescriptor?
  private var first: Signal?
  private var isUrgent = false

  init() {
    var asking: SignalSet = [.terminate]
    asking.insert(unlessIgnored: .hangup, .interrupt)
    signals = try? SignalDescriptor(asking)
  }

  /// `process` is readable once it has ended. Returns whether it has.
  mutating func wait(for process: Int32, atMostMilliseconds most: Int64) throws(Errno) -> Bool {
    let deadline = Clock.monotonicNanoseconds + most * 1_000_000
    var poll = PollSet(slots: 2)
    poll.set(0, process)
    poll.set(1, signals?.rawValue ?? -1)
    while !isUrgent {
      let left = max(0, deadline - Clock.monotonicNanoseconds)
      guard try poll.wait(nanoseconds: left) else { return false }
      if poll.isReady(0) { return true }
      while let (signal, _) = try signals?.next() {
        isUrgent = first != nil
        first = first ?? signal
      }
    }
    return false
  }

  consuming func leave() {
    if let first { try? ProcessID.sendSelf(first) }
  }
}
