internal import CLinux

/// Writes to standard output and standard error without making anybody wait for who reads there: a
/// thread that has one piece in hand at a time.
///
/// The open files behind those streams are others' too (a terminal, a pipe of the parent's), so they
/// cannot be made non-blocking. Of a reader that reads nothing the thread waits for ever, which holds
/// neither the caller nor the end of the process.
package final class StreamWriter {
  // SAFETY: the shim frees it when the thread ends after `leave`; nothing here uses it after that.
  private let writer: OpaquePointer

  /// - Parameter notification: readable once the writer is idle, where `isIdle` said that it was not.
  ///   Must stay open for as long as this lives.
  package init(notifying notification: borrowing EventDescriptor) throws(Errno) {
    guard let writer = clinux_writer_start(notification.rawValue) else { throw Errno.current }
    self.writer = writer
  }

  /// The thread is not waited for.
  deinit { clinux_writer_leave(writer) }

  /// Whether all that was put is written, or has failed.
  package var isIdle: Bool { clinux_writer_is_idle(writer) != 0 }

  /// Hands over bytes while it is idle.
  package func put(_ bytes: [UInt8], to stream: StandardStream) throws(Errno) {
    let writer = writer
    try bytes.withUnsafeBufferPointer { bytes throws(Errno) in
      // SAFETY: the shim copies the bytes.
      _ = try call { clinux_writer_put(writer, stream.rawValue, bytes.baseAddress, bytes.count) }
    }
  }

  /// Bytes that were written so far: it grows for as long as somebody reads.
  package var writtenBytes: UInt64 { clinux_writer_written(writer) }

  /// Why a write failed since the last call, and to what.
  package func takeFailure() -> (stream: StandardStream, error: Errno)? {
    var descriptor: Int32 = 0
    let error = clinux_writer_take_error(writer, &descriptor)
    guard error != 0, let stream = StandardStream(rawValue: descriptor) else { return nil }
    return (stream, Errno(rawValue: error))
  }
}
