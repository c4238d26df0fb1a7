internal import CLinux
internal import Glibc

/// Standard input, output and error, which exist without anybody having opened them.
package enum StandardStream: Int32, Sendable {
  case input = 0
  case output, error

  /// A descriptor of the same open file, away from the three.
  package func duplicate() throws(Errno) -> Descriptor {
    Descriptor(owning: try call { clinux_duplicate(rawValue, 3) })
  }

  /// From now on this stream is what `descriptor` is.
  package func redirect(to descriptor: borrowing Descriptor) throws(Errno) {
    try descriptor.place(at: rawValue)
  }

  /// From now on this stream is what `other` is.
  package func redirect(to other: StandardStream) throws(Errno) {
    try call { dup2(other.rawValue, rawValue) }
  }

  /// Writes all of it, waiting where the other end is slow and somebody made it non-blocking.
  package func writeAll(_ bytes: [UInt8]) throws(Errno) {
    let rawDescriptor = rawValue
    var written = 0
    while written < bytes.count {
      do throws(Errno) {
        let from = written
        written += try bytes.withUnsafeBufferPointer { all throws(Errno) -> Int in
          // SAFETY: the kernel reads the rest of an array that is held for the call.
          try call { write(rawDescriptor, all.baseAddress.map { $0 + from }, all.count - from) }
        }
      } catch .wouldBlock {
        var waiting = pollfd(fd: rawDescriptor, events: Int16(POLLOUT), revents: 0)
        try call { poll(&waiting, 1, -1) }
      }
    }
  }
}
