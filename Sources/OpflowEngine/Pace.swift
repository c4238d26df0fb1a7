internal import OpflowPlan

/// The throughput of a kind of worker: how many are useful, and how many tasks each should have
/// prefetched.
struct Pace {
  let maxAhead: Int
  /// The most work to prefetch beyond one task; nil: any.
  let aheadMicroseconds: Int64?
  /// A moving mean.
  private(set) var meanWallMicroseconds: Int64
  private var lastEnd: Instant?
  /// Add workers only if running tasks do not end: a launch takes longer than many small downloads.
  let growsWhenSlow: Bool
  /// It is slow from then on, if no task ends before.
  private(set) var slowFrom: Instant?
  private(set) var isSlow = false

  init(
    maxAhead: Int, aheadMicroseconds: Int64? = nil, growsWhenSlow: Bool = false,
    expectedWall: Int64
  ) {
    self.maxAhead = maxAhead
    self.aheadMicroseconds = aheadMicroseconds
    self.growsWhenSlow = growsWhenSlow
    meanWallMicroseconds = expectedWall
  }

  func wantsMore(alive: Int) -> Bool { !growsWhenSlow || alive == 0 || isSlow }

  /// Returns how many tasks to prefetch per worker while `ready` others wait.
  func aheadNow(ready: Int, alive: Int) -> Int {
    guard meanWallMicroseconds < SchedulerOptions.shortTaskMicroseconds else { return 0 }
    guard let work = aheadMicroseconds else { return maxAhead }
    // Leave half for workers that become idle.
    let share = ready / max(2 * alive, 1)
    let depth = min(Int(work / max(meanWallMicroseconds, 1)), share)
    return min(max(depth, 1), maxAhead)
  }

  /// Waits for the next launch again: many at once slow a busy machine further.
  mutating func noteLaunch(at now: Instant) {
    guard isSlow else { return }
    isSlow = false
    noteStart(at: now)
  }

  mutating func noteStart(at now: Instant) {
    guard growsWhenSlow, !isSlow, slowFrom == nil else { return }
    slowFrom = now.advanced(byMilliseconds: SchedulerOptions.shortTaskMicroseconds / 1000)
  }

  /// - Parameter busy: with the worker whose task ended.
  mutating func noteEnd(wallMicroseconds wall: Int64, alive: Int, busy: Int, at now: Instant) {
    meanWallMicroseconds += (share(of: wall, alive: alive, at: now) - meanWallMicroseconds) / 8
    slowFrom = nil
    isSlow = false
    if busy > 1 { noteStart(at: now) }
  }

  /// Returns the time per task. A download worker runs several at once: a slow one says little
  /// about its throughput.
  private mutating func share(of wall: Int64, alive: Int, at now: Instant) -> Int64 {
    guard growsWhenSlow else { return wall }
    defer { lastEnd = now }
    // The first measurement replaces the assumption.
    guard let lastEnd else {
      meanWallMicroseconds = min(wall, Self.longMicroseconds)
      return meanWallMicroseconds
    }
    return min(wall, (now.nanoseconds - lastEnd.nanoseconds) / 1000 * Int64(max(alive, 1)))
  }

  /// Returns whether it has just become slow; its tasks then count as long until some are short.
  mutating func noteTime(_ now: Instant) -> Bool {
    guard let due = slowFrom, due <= now else { return false }
    slowFrom = nil
    isSlow = true
    meanWallMicroseconds = max(meanWallMicroseconds, Self.longMicroseconds)
    return true
  }

  /// The longest assumed task, so that a few short ones change the mean.
  static let longMicroseconds = SchedulerOptions.shortTaskMicroseconds * 2
}
