internal import CLinux

/// A detached thread that runs one function.
package enum OwnThread {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// - Parameters:
  ///   - name: at most 15 bytes.
  ///   - body: runs on the thread with all signals blocked.
  /// - Throws: why the thread could not start; `body` is then not called.
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

/// Closes a descriptor in children made by fork(3), so that the peer sees the end of this process
/// even if such children outlive it. Programs started with exec never inherit it.
package struct ForkGuard: ~Copyable {
  private let place: Int32

  package init(_ rawDescriptor: Int32) { place = clinux_guard_fork(rawDescriptor) }

  deinit { clinux_unguard_fork(place) }
}
