internal import CLinux

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

  /// All bytes are written or have failed.
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
