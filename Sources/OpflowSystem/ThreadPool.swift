internal import CLinux

/// Threads, started on demand, for work that would block on the disk.
package final class ThreadPool {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  // SAFETY: created in init, freed in deinit; it has its own lock.
  private let pool: OpaquePointer
  private let notification: EventDescriptor
  private var lastTicket: UInt64 = 0

  /// Readable after each finished job; call `takeDone` then.
  package var rawDescriptor: Int32 { notification.rawValue }

  /// The default stack is enough for system calls.
  package init(threads: Int32, stackBytes: Int = 256 << 10) throws(Errno) {
    notification = try EventDescriptor()
    guard let pool = clinux_thread_pool_create(threads, stackBytes, notification.rawValue) else {
      throw Errno.current
    }
    self.pool = pool
  }

  /// Finishes pending jobs first.
  deinit { clinux_thread_pool_destroy(pool) }

  /// Detaches the pool: pending jobs go on until the process ends.
  package func abandon() {
    // Leaks the pool, because its threads use what deinit frees.
    _ = Unmanaged.passRetained(self)
  }

  /// Returns the job's ticket. Throws if not even one thread could start.
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

  /// Calls `body` for each finished job, whose memory writes are visible from then on.
  package func takeDone(_ body: (UInt64) -> Void) throws(Errno) {
    try notification.take()
    var ticket: UInt64 = 0
    while clinux_thread_pool_take(pool, &ticket) != 0 { body(ticket) }
  }
}
