internal import CLinux

/// Syncs many files at once without making anybody wait: threads that call fsync(2) when asked, and
/// nothing else. The kernel answers ten syncs that wait together in the time of one.
package final class SyncPool {
  // SAFETY: created in init, freed in deinit; locks for itself.
  private let pool: OpaquePointer
  private let notification: EventDescriptor
  private var lastTicket: UInt64 = 0

  /// Readable after each group that ended; call `takeResults` then.
  package var rawDescriptor: Int32 { notification.rawValue }

  /// - Parameter threads: how many there are at most; they are started as they are needed.
  package init(threads: Int32) throws(Errno) {
    notification = try EventDescriptor()
    guard let pool = clinux_sync_pool_create(threads, notification.rawValue) else {
      throw Errno.current
    }
    self.pool = pool
  }

  /// Finishes what was asked, and ends the threads.
  deinit { clinux_sync_pool_destroy(pool) }

  /// Asks for files to be synced, one after the other in one thread: those of a group cost less than
  /// each alone. They must stay open until `takeResults` gave their tickets back.
  ///
  /// - Parameter descriptors: at least one.
  /// - Returns: the tickets, in the files' order.
  package func sync(_ descriptors: [Int32]) throws(Errno) -> Range<UInt64> {
    precondition(!descriptors.isEmpty, "a group of no files")
    let first = lastTicket + 1
    // SAFETY: the array lives until the call returns, which copies it.
    try call { clinux_sync_pool_submit(pool, descriptors, Int32(descriptors.count), first) }
    lastTicket += UInt64(descriptors.count)
    return first..<lastTicket + 1
  }

  /// Calls `body` with the ticket of each sync that ended since the last call, and with why it failed.
  package func takeResults(_ body: (UInt64, Errno?) -> Void) throws(Errno) {
    try notification.take()
    var ticket: UInt64 = 0
    var error: Int32 = 0
    while clinux_sync_pool_take(pool, &ticket, &error) != 0 {
      body(ticket, error == 0 ? nil : Errno(rawValue: error))
    }
  }
}
