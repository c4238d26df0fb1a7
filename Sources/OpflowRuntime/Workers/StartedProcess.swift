internal import OpflowSystem

/// A process that this one started and waits for beside other things. Whoever looks at it may be the one who reaps
/// it; from then on nothing is sent to it.
final class StartedProcess {
  private let process: SpawnedProcess
  private(set) var hasEnded = false
  /// How it ended; nil while that is not known.
  private(set) var status: EndedProcess.Status?

  init(_ process: consuming SpawnedProcess) { self.process = process }

  /// Readable once it has ended.
  var rawDescriptor: Int32 { process.descriptor.rawValue }

  /// Returns whether it has ended.
  func reap() -> Bool {
    if hasEnded { return true }
    do throws(Errno) {
      guard let end = try process.reap() else { return false }
      status = end.status
    } catch {
      // Nobody is there to be reaped.
    }
    hasEnded = true
    return true
  }

  /// Waits until it has ended, or for so long; negative is for ever. Returns whether it has ended.
  func wait(nanoseconds: Int64) -> Bool {
    if hasEnded { return true }
    // Where that cannot be waited for, it is seen below whether it has.
    _ = try? process.waitForEnd(nanoseconds: nanoseconds)
    return reap()
  }

  func kill() {
    if !hasEnded { process.kill() }
  }

  /// Kills it and all that it started, of one that leads a process group. Does nothing once it is reaped.
  func killGroup() {
    if !hasEnded { ProcessGroup.killAll(ledBy: process.pid) }
  }

  func terminate() {
    // Where it has ended that is seen by who waits for it.
    if !hasEnded { try? process.signal(.terminate) }
  }
}

extension SpawnedProcess {
  /// Waits until it has ended, or for so long; negative is for ever. Returns whether it has ended; it is to be reaped.
  func waitForEnd(nanoseconds: Int64) throws(Errno) -> Bool {
    var end = PollSet(slots: 1)
    end.set(0, descriptor.rawValue)
    return try end.wait(nanoseconds: nanoseconds)
  }
}
