internal import CLinux

/// Calls fdatasync(2) on a thread.
package struct Syncer: ~Copyable {
  private let thread: OpaquePointer
  private let notification: EventDescriptor

  /// Readable after each finished sync.
  package var rawDescriptor: Int32 { notification.rawValue }

  /// `file` must stay open while this object lives.
  package init(_ file: borrowing Descriptor) throws(Errno) {
    let notification = try EventDescriptor()
    guard let thread = clinux_syncer_start(file.rawValue, notification.rawValue) else {
      throw Errno.current
    }
    self.thread = thread
    self.notification = notification
  }

  /// Finishes pending requests first.
  deinit { clinux_syncer_stop(thread) }

  /// Requests a sync of everything written so far; numbers increase. `first` is synced before; at
  /// most one may be pending.
  package func request(_ sequence: UInt64, first: consuming Descriptor? = nil) {
    let raw: Int32 = if let first { first.release() } else { -1 }
    clinux_syncer_request(thread, sequence, raw)
  }

  /// The last synced request. Nothing is synced after an error, since the kernel may have dropped
  /// the data.
  package func result() throws(Errno) -> UInt64 {
    try notification.take()
    var sequence: UInt64 = 0
    let error = clinux_syncer_result(thread, &sequence)
    if error != 0 { throw Errno(rawValue: error) }
    return sequence
  }
}
