internal import CLinux

package enum OwnThread {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// `name` has at most 15 bytes; `body` runs detached, with all signals blocked.
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

/// Closes a descriptor in children made by fork(3), which could outlive this process and hide its
/// end from the peer. An exec never keeps it.
package struct ForkGuard: ~Copyable {
  private let place: Int32

  package init(_ rawDescriptor: Int32) { place = clinux_guard_fork(rawDescriptor) }

  deinit { clinux_unguard_fork(place) }
}
