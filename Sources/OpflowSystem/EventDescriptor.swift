internal import CLinux

/// An eventfd(2) counter, used by one thread to wake the poller of another.
package struct EventDescriptor: ~Copyable, Sendable {
  private let descriptor: Descriptor
  package var rawValue: Int32 { descriptor.rawValue }

  package init() throws(Errno) {
    descriptor = try Descriptor(owning: try call { clinux_event_descriptor() }).aboveStandard()
  }

  /// Adds one, which makes the descriptor readable.
  package func signal() throws(Errno) {
    var one: UInt64 = 1
    _ = try withUnsafeBytes(of: &one) { bytes throws(Errno) in try descriptor.write(bytes) }
  }

  /// Returns the count since the last call and resets it to 0.
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
