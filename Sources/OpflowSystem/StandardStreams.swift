internal import CLinux
internal import Glibc

package enum StandardStream: Int32, Sendable {
  case input = 0
  case output, error

  /// Opens closed standard streams on /dev/null, before another file gets such a number and then
  /// receives messages.
  package static func openClosed() throws(Errno) {
    try call { clinux_open_standard_streams() }
  }

  /// To a number above 2.
  package func duplicate() throws(Errno) -> Descriptor {
    Descriptor(owning: try call { clinux_duplicate(rawValue, 3) })
  }

  /// Throws `badDescriptor` if the stream is write-only.
  package func duplicateToRead() throws(Errno) -> Descriptor {
    let flags = try call { fcntl(rawValue, F_GETFL) }
    if flags & O_ACCMODE == O_WRONLY { throw .badDescriptor }
    return try duplicate()
  }

  package func redirect(to descriptor: borrowing Descriptor) throws(Errno) {
    try descriptor.place(at: rawValue)
  }

  package func redirect(to other: StandardStream) throws(Errno) {
    try call { dup2(other.rawValue, rawValue) }
  }

  package func isSameFile(as other: StandardStream) -> Bool {
    var own = clinux_status()
    var others = clinux_status()
    guard clinux_fstat(rawValue, &own) == 0, clinux_fstat(other.rawValue, &others) == 0 else {
      return false
    }
    return own.device == others.device && own.inode == others.inode
  }

  /// Whether a write may block; never for a file or /dev/null.
  package var mayStall: Bool {
    var own = clinux_status()
    guard clinux_fstat(rawValue, &own) == 0 else { return true }
    let status = FileStatus(own)
    if status.kind == .file { return false }
    guard let null = try? Path.status("/dev/null") else { return true }
    return status.identity != null.identity
  }

  /// Writes until the time is over, in pieces that fit into a pipe with any room.
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
          // SAFETY: `piece` stays valid for the call.
          try call { write(rawDescriptor, piece.baseAddress, piece.count) }
        }
        rest = rest.dropFirst(count)
      } catch .wouldBlock {
        continue
      }
    }
  }

  /// Waits for a slow reader, even on a non-blocking stream. Throws `badDescriptor` if it is
  /// read-only.
  package func writeAll(_ bytes: [UInt8]) throws(Errno) {
    let rawDescriptor = rawValue
    var written = 0
    while written < bytes.count {
      do throws(Errno) {
        let from = written
        written += try bytes.withUnsafeBufferPointer { all throws(Errno) -> Int in
          // SAFETY: `all` stays valid for the call.
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
