internal import OpflowPlan
internal import OpflowSystem

/// A Slurm job whose coordinator, and the processes that would cancel it, may be dead. An agent
/// without news waits for the heartbeat timeout and cancels the job if the run's lock is free. A
/// coordinator that has only lost this agent holds the lock.
struct AbandonedJob {
  private let job: Int64
  private let lock: String
  /// The lock file's contents when the agent started.
  private let driver: [UInt8]?

  init(job: Int64, runFolder: RunFolder) {
    self.job = job
    lock = runFolder.lock
    driver = try? LockHolder.content(lock)
  }

  func end(after leaseEnd: Instant, now: () -> Instant) {
    while case let left = leaseEnd.nanoseconds - now().nanoseconds, left > 0 {
      Clock.sleep(milliseconds: Int32(clamping: left / 1_000_000 + 1))
    }
    // Then Slurm's time limit ends the job.
    guard let isHeld = try? FileLock.isHeld(lock) else { return }
    // A new coordinator does not use this job.
    let isOthers = driver != nil && (try? LockHolder.content(lock)) != driver
    guard !isHeld || isOthers else { return }
    AgentMain.complain("who asked for job \(job) drives the run no more: ending it")
    if let complaint = SlurmProgram.cancel(job) { AgentMain.complain(complaint) }
  }
}
