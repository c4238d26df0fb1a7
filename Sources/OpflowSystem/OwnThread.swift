internal import CLinux

/// A thread that does one thing and ends, for which nobody waits.
package enum OwnThread {
  /// What the thread is handed.
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// - Parameters:
  ///   - name: 15 bytes at most.
  ///   - body: called on the thread, with every signal blocked.
  /// - Throws: why there is no thread; `body` is then not called.
  package static func start(
    _ name: String, stackBytes: Int, _ body: @escaping @Sendable () -> Void
  ) throws(Errno) {
    let work = Unmanaged.passRetained(Work(body))
    do throws(Errno) {
      try call {
        clinux_thread_start(
          name, stackBytes,
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

/// Keeps a descriptor from the children that this process makes by fork(3): so who is at its other end sees when this
/// process is gone, whatever children it leaves. What executes another program has none of it in any case.
package struct ForkGuard: ~Copyable {
  private let place: Int32

  package init(_ rawDescriptor: Int32) { place = clinux_guard_fork(rawDescriptor) }

  deinit { clinux_unguard_fork(place) }
}
