internal import CLinux

/// Threads that do what would make their caller wait for the disk. They are started as they are
/// needed.
package final class ThreadPool {
  /// What a thread is handed, and lets go of when it has called it.
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  // SAFETY: created in init, freed in deinit; locks for itself.
  private let pool: OpaquePointer
  private let notification: EventDescriptor
  private var lastTicket: UInt64 = 0

  /// Readable after each job that was done; call `takeDone` then.
  package var rawDescriptor: Int32 { notification.rawValue }

  /// - Parameters:
  ///   - threads: how many there are at most.
  ///   - stackBytes: what each has; enough for calls of the system unless told.
  package init(threads: Int32, stackBytes: Int = 256 << 10) throws(Errno) {
    notification = try EventDescriptor()
    guard let pool = clinux_thread_pool_create(threads, stackBytes, notification.rawValue) else {
      throw Errno.current
    }
    self.pool = pool
  }

  /// Finishes what was asked, and ends the threads.
  deinit { clinux_thread_pool_destroy(pool) }

  /// What was asked goes on until the process ends, and nobody waits for it: some of it may never be done.
  package func abandon() {
    // The threads need what is freed with this.
    _ = Unmanaged.passRetained(self)
  }

  /// Has a thread call `body`.
  ///
  /// - Returns: the job's ticket.
  /// - Throws: why there is not even one thread; `body` is then not called.
  package func submit(_ body: @escaping @Sendable () -> Void) throws(Errno) -> UInt64 {
    let work = Unmanaged.passRetained(Work(body))
    do throws(Errno) {
      try call {
        clinux_thread_pool_submit(
          pool, lastTicket + 1,
          { context in
            guard let context else { return }
            // SAFETY: the context is the work that was retained for this one call.
            Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
          }, work.toOpaque())
      }
    } catch {
      work.release()
      throw error
    }
    lastTicket += 1
    return lastTicket
  }

  /// Calls `body` with the ticket of each job that was done since the last call. All that the job did
  /// is seen by its caller from then on.
  package func takeDone(_ body: (UInt64) -> Void) throws(Errno) {
    try notification.take()
    var ticket: UInt64 = 0
    while clinux_thread_pool_take(pool, &ticket) != 0 { body(ticket) }
  }
}
