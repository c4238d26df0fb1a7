internal import CLinux

/// An eventfd(2) with which one thread wakes the poller of another.
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
