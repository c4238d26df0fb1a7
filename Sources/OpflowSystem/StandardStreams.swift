internal import CLinux
internal import Glibc

/// Standard input, output and error, which exist without anybody having opened them.
package enum StandardStream: Int32, Sendable {
  case input = 0
  case output, error

  /// Opens those that whoever started this program had closed, on /dev/null. Before anything else is
  /// opened, which would get their numbers, and with them what is meant for a person.
  package static func openClosed() throws(Errno) {
    try call { clinux_open_standard_streams() }
  }

  /// A descriptor of the same open file, away from the three.
  package func duplicate() throws(Errno) -> Descriptor {
    Descriptor(owning: try call { clinux_duplicate(rawValue, 3) })
  }

  /// The same, to read from.
  ///
  /// - Throws: `badDescriptor` where it was opened for writing only.
  package func duplicateToRead() throws(Errno) -> Descriptor {
    let flags = try call { fcntl(rawValue, F_GETFL) }
    if flags & O_ACCMODE == O_WRONLY { throw .badDescriptor }
    return try duplicate()
  }

  /// From now on this stream is what `descriptor` is.
  package func redirect(to descriptor: borrowing Descriptor) throws(Errno) {
    try descriptor.place(at: rawValue)
  }

  /// From now on this stream is what `other` is.
  package func redirect(to other: StandardStream) throws(Errno) {
    try call { dup2(other.rawValue, rawValue) }
  }

  /// Whether both lead to the same file, terminal or pipe.
  package func isSameFile(as other: StandardStream) -> Bool {
    var own = clinux_status()
    var others = clinux_status()
    guard clinux_fstat(rawValue, &own) == 0, clinux_fstat(other.rawValue, &others) == 0 else {
      return false
    }
    return own.device == others.device && own.inode == others.inode
  }

  /// Whether a write may wait for somebody to read. Into a file, or into /dev/null, none does.
  package var mayStall: Bool {
    var own = clinux_status()
    guard clinux_fstat(rawValue, &own) == 0 else { return true }
    let status = FileStatus(own)
    if status.kind == .file { return false }
    guard let null = try? Path.status("/dev/null") else { return true }
    return status.identity != null.identity
  }

  /// Writes as much as somebody takes in time, in pieces that a pipe has room for when it has any.
  package func writeAll(_ bytes: [UInt8], patienceMilliseconds: Int64) throws(Errno) {
    let rawDescriptor = rawValue
    let deadline = Clock.monotonicNanoseconds + patienceMilliseconds * 1_000_000
    var rest = bytes[...]
    while !rest.isEmpty {
      let left = max(0, deadline - Clock.monotonicNanoseconds) / 1_000_000
      var waiting = pollfd(fd: rawDescriptor, events: Int16(POLLOUT), revents: 0)
      guard try call({ poll(&waiting, 1, Int32(left)) }) > 0 else { return }
      do throws(Errno) {
        let count = try rest.prefix(4096).withUnsafeBufferPointer { piece throws(Errno) in
          // SAFETY: the kernel reads a piece that is held for the call.
          try call { write(rawDescriptor, piece.baseAddress, piece.count) }
        }
        rest = rest.dropFirst(count)
      } catch .wouldBlock {
        continue
      }
    }
  }

  /// Writes all of it, waiting where the other end is slow and somebody made it non-blocking.
  ///
  /// - Throws: `badDescriptor` where it was opened for reading only.
  package func writeAll(_ bytes: [UInt8]) throws(Errno) {
    let rawDescriptor = rawValue
    var written = 0
    while written < bytes.count {
      do throws(Errno) {
        let from = written
        written += try bytes.withUnsafeBufferPointer { all throws(Errno) -> Int in
          // SAFETY: the kernel reads the rest of an array that is held for the call.
          try givenCall {
            write(rawDescriptor, all.baseAddress.map { $0 + from }, all.count - from)
          }
        }
      } catch .wouldBlock {
        var waiting = pollfd(fd: rawDescriptor, events: Int16(POLLOUT), revents: 0)
        try call { poll(&waiting, 1, -1) }
      }
    }
  }
}
