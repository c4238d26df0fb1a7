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

  /// Writes all of it.
  package func writeAll(_ bytes: [UInt8]) throws(Errno) {
    // Borrowed: the stream stays open.
    let descriptor = Descriptor(owning: rawValue)
    do throws(Errno) {
      try descriptor.writeAll(bytes)
    } catch {
      _ = descriptor.release()
      throw error
    }
    _ = descriptor.release()
  }
}
