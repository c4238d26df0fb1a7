internal import CLinux
internal import Glibc

package enum StandardStream: Int32, Sendable {
  case input = 0
  case output, error

  /// Opens closed standard streams on /dev/null, before another file gets such a number and
  /// receives messages.
  package static func openClosed() throws(Errno) {
    try call { clinux_open_standard_streams() }
  }

  /// Duplicates to a number above 2.
  package func duplicate() throws(Errno) -> Descriptor {
    Descriptor(owning: try call { clinux_duplicate(rawValue, 3) })
  }

  /// Throws `badDescriptor` for a write-only stream.
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

  /// False for a file or /dev/null.
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
    let deadline = Clock.monotonicNanoseconds + patienceMilliseconds * 1_000_000
    var rest = bytes[...]
    while !rest.isEmpty {
      let left = max(0, deadline - Clock.monotonicNanoseconds) / 1_000_000
      var waiting = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
      guard try call({ poll(&waiting, 1, Int32(left)) }) > 0 else { return }
      do throws(Errno) {
        let count = try rest.prefix(4096).withUnsafeBufferPointer { piece throws(Errno) in
          // SAFETY: `piece` stays valid for the call.
          try call { write(rawValue, piece.baseAddress, piece.count) }
        }
        rest = rest.dropFirst(count)
      } catch .wouldBlock {
        continue
      }
    }
  }

  /// Waits for a slow reader, even on a non-blocking stream. Throws `badDescriptor` for a read-only
  /// stream.
  package func writeAll(_ bytes: [UInt8]) throws(Errno) {
    var written = 0
    while written < bytes.count {
      do throws(Errno) {
        let from = written
        written += try bytes.withUnsafeBufferPointer { all throws(Errno) -> Int in
          // SAFETY: `all` stays valid for the call.
          try givenCall {
            write(rawValue, all.baseAddress.map { $0 + from }, all.count - from)
          }
        }
      } catch .wouldBlock {
        var waiting = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
        try call { poll(&waiting, 1, -1) }
      }
    }
  }
}

/// Writes to standard output and error on a thread, so that a slow reader does not block the
/// caller. The streams cannot be made non-blocking: other processes share their open files.
package final class StreamWriter {
  // SAFETY: the shim frees it after `leave`; nothing here uses it after that.
  private let writer: OpaquePointer

  /// `notification` becomes readable when the writer is idle again; it must stay open.
  package init(notifying notification: borrowing EventDescriptor) throws(Errno) {
    guard let writer = clinux_writer_start(notification.rawValue) else { throw Errno.current }
    self.writer = writer
  }

  /// Does not wait for the thread.
  deinit { clinux_writer_leave(writer) }

  package var isIdle: Bool { clinux_writer_is_idle(writer) != 0 }

  /// The writer must be idle.
  package func put(_ bytes: [UInt8], to stream: StandardStream) throws(Errno) {
    let writer = writer
    try bytes.withUnsafeBufferPointer { bytes throws(Errno) in
      // SAFETY: the shim copies the bytes.
      _ = try call { clinux_writer_put(writer, stream.rawValue, bytes.baseAddress, bytes.count) }
    }
  }

  /// Grows as long as the reader reads.
  package var writtenBytes: UInt64 { clinux_writer_written(writer) }

  /// Returns a failure since the last call.
  package func takeFailure() -> (stream: StandardStream, error: Errno)? {
    var descriptor: Int32 = 0
    let error = clinux_writer_take_error(writer, &descriptor)
    guard error != 0, let stream = StandardStream(rawValue: descriptor) else { return nil }
    return (stream, Errno(rawValue: error))
  }
}
