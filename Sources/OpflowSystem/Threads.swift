internal import CLinux

/// Threads, started on demand, for work that would block on the disk.
package final class ThreadPool {
  // SAFETY: created in init, freed in deinit; it has its own lock.
  private let pool: OpaquePointer
  private let notification: EventDescriptor
  private var lastTicket: UInt64 = 0

  /// Readable after each finished job; call `takeDone` then.
  package var rawDescriptor: Int32 { notification.rawValue }

  /// The default stack suffices for system calls.
  package init(threads: Int32, stackBytes: Int = 256 << 10) throws(Errno) {
    notification = try EventDescriptor()
    guard let pool = clinux_thread_pool_create(threads, stackBytes, notification.rawValue) else {
      throw Errno.current
    }
    self.pool = pool
  }

  /// Finishes pending jobs first.
  deinit { clinux_thread_pool_destroy(pool) }

  /// Detaches the pool: pending jobs continue until the process ends.
  package func abandon() {
    // Leaked, because its threads use what deinit frees.
    _ = Unmanaged.passRetained(self)
  }

  /// Returns the job's ticket. Throws if not even one thread could start.
  package func submit(_ body: @escaping @Sendable () -> Void) throws(Errno) -> UInt64 {
    try Work.handOver(body) { run, work in
      clinux_thread_pool_submit(pool, lastTicket + 1, run, work)
    }
    lastTicket += 1
    return lastTicket
  }

  /// Calls `body` for each finished job, whose memory writes are then visible.
  package func takeDone(_ body: (UInt64) -> Void) throws(Errno) {
    try notification.take()
    var ticket: UInt64 = 0
    while clinux_thread_pool_take(pool, &ticket) != 0 { body(ticket) }
  }
}

/// A closure that a thread runs once.
private final class Work: Sendable {
  private let body: @Sendable () -> Void

  private init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  static func handOver(
    _ body: @escaping @Sendable () -> Void,
    _ start: (@convention(c) (UnsafeMutableRawPointer?) -> Void, UnsafeMutableRawPointer) -> Int32
  ) throws(Errno) {
    let work = Unmanaged.passRetained(Work(body))
    do throws(Errno) {
      try call {
        start(
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
  }
}

package enum OwnThread {
  /// `name` has at most 15 bytes; `body` runs detached, with all signals blocked.
  package static func start(
    _ name: String, stackBytes: Int, _ body: @escaping @Sendable () -> Void
  ) throws(Errno) {
    try Work.handOver(body) { run, work in clinux_thread_start(name, stackBytes, run, work) }
  }
}

/// Closes a descriptor in children made by fork(3): they could outlive this process and hide its
/// end from the peer. Exec closes it anyway.
package struct ForkGuard: ~Copyable {
  private let place: Int32

  package init(_ rawDescriptor: Int32) { place = clinux_guard_fork(rawDescriptor) }

  deinit { clinux_unguard_fork(place) }
}

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
