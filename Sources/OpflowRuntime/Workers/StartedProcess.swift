internal import OpflowSystem

/// A child process that is waited for along with other events. Any check may reap it; afterwards
/// nothing is sent to it.
final class StartedProcess {
  private let process: SpawnedProcess
  private(set) var hasEnded = false
  private(set) var status: EndedProcess.Status?

  init(_ process: consuming SpawnedProcess) { self.process = process }

  /// nil once it is reaped: another process may have the number by then.
  var pid: Int32? { hasEnded ? nil : process.pid }

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
