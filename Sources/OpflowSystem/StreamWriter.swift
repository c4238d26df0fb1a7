internal import CLinux

/// Writes to standard output and standard error on a thread, one piece at a time, so that a slow
/// reader does not block the caller. The streams cannot be made non-blocking, since other processes
/// share their open files. A reader that never reads blocks only the thread.
package final class StreamWriter {
  // SAFETY: the shim frees it when the thread ends after `leave`; nothing here uses it after that.
  private let writer: OpaquePointer

  /// - Parameter notification: becomes readable when the writer is idle again, after `isIdle` was
  ///   false. Must stay open while this object lives.
  package init(notifying notification: borrowing EventDescriptor) throws(Errno) {
    guard let writer = clinux_writer_start(notification.rawValue) else { throw Errno.current }
    self.writer = writer
  }

  /// Does not wait for the thread.
  deinit { clinux_writer_leave(writer) }

  /// Whether all bytes have been written or have failed.
  package var isIdle: Bool { clinux_writer_is_idle(writer) != 0 }

  /// Writes bytes in the background; the writer must be idle.
  package func put(_ bytes: [UInt8], to stream: StandardStream) throws(Errno) {
    let writer = writer
    try bytes.withUnsafeBufferPointer { bytes throws(Errno) in
      // SAFETY: the shim copies the bytes.
      _ = try call { clinux_writer_put(writer, stream.rawValue, bytes.baseAddress, bytes.count) }
    }
  }

  /// The bytes written so far; the number grows as long as the reader reads.
  package var writtenBytes: UInt64 { clinux_writer_written(writer) }

  /// Returns the stream and the error of a write that failed since the last call.
  package func takeFailure() -> (stream: StandardStream, error: Errno)? {
    var descriptor: Int32 = 0
    let error = clinux_writer_take_error(writer, &descriptor)
    guard error != 0, let stream = StandardStream(rawValue: descriptor) else { return nil }
    return (stream, Errno(rawValue: error))
  }
}
