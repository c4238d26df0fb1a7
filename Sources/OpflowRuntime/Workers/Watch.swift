internal import OpflowSystem

/// The event loop's descriptors. Each owner numbers its own places.
final class EventLoop {
  enum Owner: Equatable {
    case coordinator
    case control
    /// A client with external tasks.
    case program
    case node(Int)
  }

  private var poller: Poller

  /// The descriptor for another poll set.
  var rawDescriptor: Int32 { poller.rawDescriptor }

  init() throws(Errno) { poller = try Poller() }

  /// Call `remove` before closing the descriptor, unless that closes the open file as well.
  func add(
    _ rawDescriptor: Int32, _ owner: Owner, _ place: UInt32, for interest: Readiness = .readable
  ) throws(Errno) {
    try poller.add(rawDescriptor, token: Self.token(owner, place), interest: interest)
  }

  func remove(_ rawDescriptor: Int32) throws(Errno) { try poller.remove(rawDescriptor) }

  func wait(timeout: Duration?, into events: inout [PollEvent]) throws(Errno) {
    try poller.wait(timeout: timeout, into: &events)
  }

  private static func token(_ owner: Owner, _ place: UInt32) -> UInt64 {
    switch owner {
    case .coordinator: UInt64(place)
    case .control: 1 << 32 | UInt64(place)
    case .program: 2 << 32 | UInt64(place)
    case .node(let number): UInt64(number + 3) << 32 | UInt64(place)
    }
  }
}

extension PollEvent {
  var owner: EventLoop.Owner {
    switch token >> 32 {
    case 0: .coordinator
    case 1: .control
    case 2: .program
    default: .node(Int(token >> 32) - 3)
    }
  }
  var place: UInt32 { UInt32(truncatingIfNeeded: token) }
}
