internal import OpflowCore
internal import OpflowSystem

/// What a drive waits for: descriptors of its own and of each site's launcher. Places are numbered by
/// whoever watches them; those of two owners never meet.
final class Watch {
  /// Whose a descriptor is.
  enum Owner: Equatable {
    case coordinator
    /// The socket that takes orders.
    case control
    /// A program that has blocks.
    case program
    /// The launcher of that number.
    case site(Int)
  }

  private var poller: Poller

  /// Readable when `wait` has something to tell: for who waits for other things too.
  var rawDescriptor: Int32 { poller.rawDescriptor }

  init() throws(Errno) { poller = try Poller() }

  /// It must be removed before it is closed, unless the file that is open goes with it.
  func add(
    _ rawDescriptor: Int32, _ owner: Owner, _ place: UInt32, for interest: Readiness = .readable
  ) throws(Errno) {
    try poller.add(rawDescriptor, token: Self.token(owner, place), interest: interest)
  }

  func remove(_ rawDescriptor: Int32) throws(Errno) { try poller.remove(rawDescriptor) }

  /// See `Poller`.
  func wait(timeout: Duration?, into events: inout [PollEvent]) throws(Errno) {
    try poller.wait(timeout: timeout, into: &events)
  }

  /// The number of the launcher in the upper half, from 3; 0 is the coordinator, 1 the socket, 2 all programs.
  private static func token(_ owner: Owner, _ place: UInt32) -> UInt64 {
    switch owner {
    case .coordinator: UInt64(place)
    case .control: 1 << 32 | UInt64(place)
    case .program: 2 << 32 | UInt64(place)
    case .site(let number): UInt64(number + 3) << 32 | UInt64(place)
    }
  }
}

extension PollEvent {
  var owner: Watch.Owner {
    switch token >> 32 {
    case 0: .coordinator
    case 1: .control
    case 2: .program
    default: .site(Int(token >> 32) - 3)
    }
  }
  var place: UInt32 { UInt32(truncatingIfNeeded: token) }
}
