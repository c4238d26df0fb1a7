internal import OpflowCore
internal import OpflowSystem

/// A job of Slurm that was asked for by a coordinator which may be dead, with all that would end the job.
///
/// The agents of the job are left then. One of them that hears no more of its coordinator waits until its
/// lease has run out, and ends the job if that coordinator does not drive the run: the run's lock says that, which a
/// living coordinator holds, and who lost only the way to this agent.
struct AbandonedJob {
  private let job: Int64
  private let lock: String
  /// What stood in it as the agent began: who drove the run then.
  private let driver: [UInt8]?

  init(job: Int64, runFolder: RunFolder) {
    self.job = job
    lock = runFolder.lock
    driver = try? LockHolder.content(lock)
  }

  /// Waits until then, and ends it where nobody drives the run.
  func end(after leaseEnd: Instant, now: () -> Instant) {
    while case let left = leaseEnd.nanoseconds - now().nanoseconds, left > 0 {
      Clock.sleep(milliseconds: Int32(clamping: left / 1_000_000 + 1))
    }
    // What cannot be looked at is as good as held: Slurm's own limits end the job then.
    guard let isHeld = try? FileLock.isHeld(lock) else { return }
    // Whoever drives it by now has machines of its own.
    let isOthers = driver != nil && (try? LockHolder.content(lock)) != driver
    guard !isHeld || isOthers else { return }
    AgentMain.complain("who asked for job \(job) drives the run no more: ending it")
    if let complaint = SlurmProgram.cancel(job) { AgentMain.complain(complaint) }
  }
}
