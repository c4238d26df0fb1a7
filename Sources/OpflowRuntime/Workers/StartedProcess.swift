internal import OpflowSystem
internal import Synchronization

/// A child process that is waited for along with other events. Any check may reap it; afterwards
/// nothing is sent to it.
final class StartedProcess {
  private let process: SpawnedProcess
  private(set) var hasEnded = false
  private(set) var status: EndedProcess.Status?

  private static let living = Mutex<Set<Int32>>([])
  /// The pids of all that are not reaped yet. The search for orphans spares these children.
  static var unreaped: Set<Int32> { living.withLock { $0 } }

  init(_ process: consuming SpawnedProcess) {
    let pid = process.pid
    self.process = process
    Self.living.withLock { _ = $0.insert(pid) }
  }

  deinit { if !hasEnded { leave() } }

  /// Call it once: another process may have the number later.
  private func leave() {
    let pid = process.pid
    Self.living.withLock { _ = $0.remove(pid) }
  }

  var rawDescriptor: Int32 { process.descriptor.rawValue }

  func reap() -> Bool {
    if hasEnded { return true }
    do throws(Errno) {
      guard let end = try process.reap() else { return false }
      status = end.status
    } catch {
      // Already reaped elsewhere.
    }
    hasEnded = true
    leave()
    return true
  }

  /// A negative time is no limit. Returns whether it has ended.
  func wait(nanoseconds: Int64) -> Bool {
    if hasEnded { return true }
    // After an error, `reap` still finds out.
    _ = try? process.waitForEnd(nanoseconds: nanoseconds)
    return reap()
  }

  /// Whether it has ended. Unlike `reap`, leaves its process group to be killed.
  var isOver: Bool {
    if hasEnded { return true }
    return (try? process.waitForEnd(nanoseconds: 0)) ?? true
  }

  func kill() {
    if !hasEnded { process.kill() }
  }

  /// Kills its process group, which it must lead. Does nothing once it is reaped.
  func killGroup() {
    if !hasEnded { ProcessGroup.killAll(ledBy: process.pid) }
  }

  func terminate() {
    // An error means that it has ended; the caller sees that when it waits.
    if !hasEnded { try? process.signal(.terminate) }
  }
}

extension SpawnedProcess {
  /// A negative time is no limit. Returns whether it has ended and can be reaped.
  func waitForEnd(nanoseconds: Int64) throws(Errno) -> Bool {
    var end = PollSet(slots: 1)
    end.set(0, descriptor.rawValue)
    return try end.wait(nanoseconds: nanoseconds)
  }
}
