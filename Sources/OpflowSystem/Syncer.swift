internal import CLinux

/// Syncs a file without making anybody wait: one thread that calls fdatasync(2) when asked, and
/// nothing else.
package struct Syncer: ~Copyable {
  private let thread: OpaquePointer
  private let notification: EventDescriptor

  /// Readable after each sync that ended; read `result` then.
  package var rawDescriptor: Int32 { notification.rawValue }

  /// Syncs `file`, which must stay open for as long as this lives.
  package init(_ file: borrowing Descriptor) throws(Errno) {
    let notification = try EventDescriptor()
    guard let thread = clinux_syncer_start(file.rawValue, notification.rawValue) else {
      throw Errno.current
    }
    self.thread = thread
    self.notification = notification
  }

  /// Finishes what was asked, and ends the thread.
  deinit { clinux_syncer_stop(thread) }

  /// Asks for everything written so far to be synced; the caller numbers it, counting up.
  ///
  /// - Parameter first: another file, which is synced before. While a request with one is under way, there is no other
  ///   with one.
  package func request(_ sequence: UInt64, first: consuming Descriptor? = nil) {
    let raw: Int32 = if let first { first.release() } else { -1 }
    clinux_syncer_request(thread, sequence, raw)
  }

  /// The number that the last completed sync covers. Throws why a sync failed: from then on nothing
  /// is synced, since the kernel may have dropped what it could not write.
  package func result() throws(Errno) -> UInt64 {
    try notification.take()
    var sequence: UInt64 = 0
    let error = clinux_syncer_result(thread, &sequence)
    if error != 0 { throw Errno(rawValue: error) }
    return sequence
  }
}
