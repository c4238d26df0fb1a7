/// How fast the workers of one kind are, and so how many of them there are to be and how much each of
/// them is to have before it.
struct Pace {
  /// How many tasks each of them may be handed ahead at most.
  let maxAhead: Int
  /// Of how much work there may be more than one task ahead; nil: of any.
  let aheadMicroseconds: Int64?
  /// A moving mean of how long a worker is busy with each of its tasks.
  private(set) var meanWallMicroseconds: Int64
  private var lastEnd: Instant?
  /// It starts with one worker, and gets a further one only when the tasks of those that it has do
  /// not end: to start a worker takes longer than many a small download.
  let growsWhenSlow: Bool
  /// When it counts as slow, if no task of it ends before; nil when it does, or has no task.
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

  /// Whether one more worker would be of use, where so many live.
  func wantsMore(alive: Int) -> Bool { !growsWhenSlow || alive == 0 || isSlow }

  /// How many tasks each of so many workers is to have ahead now, while `ready` others wait.
  func aheadNow(ready: Int, alive: Int) -> Int {
    guard meanWallMicroseconds < SchedulerOptions.shortTaskMicroseconds else { return 0 }
    guard let work = aheadMicroseconds else { return maxAhead }
    // Half of what is left stays for whoever is first without work, or they would have to be asked
    // back in the end.
    let share = ready / max(2 * alive, 1)
    let depth = min(Int(work / max(meanWallMicroseconds, 1)), share)
    return min(max(depth, 1), maxAhead)
  }

  /// A further worker was launched. The next one has to wait as long again: where the machine is busy,
  /// all of them at once would make it slower still.
  mutating func noteLaunch(at now: Instant) {
    guard isSlow else { return }
    isSlow = false
    noteStart(at: now)
  }

  mutating func noteStart(at now: Instant) {
    guard growsWhenSlow, !isSlow, slowFrom == nil else { return }
    slowFrom = now.advanced(byMilliseconds: SchedulerOptions.shortTaskMicroseconds / 1000)
  }

  /// - Parameters:
  ///   - alive: how many workers there are.
  ///   - busy: how many of them have a task; the one whose task ended still counts.
  mutating func noteEnd(wallMicroseconds wall: Int64, alive: Int, busy: Int, at now: Instant) {
    meanWallMicroseconds += (share(of: wall, alive: alive, at: now) - meanWallMicroseconds) / 8
    slowFrom = nil
    isSlow = false
    if busy > 1 { noteStart(at: now) }
  }

  /// A download worker is at several at once: that its disk is slow to make one of them last says
  /// little of how many it does in a second.
  private mutating func share(of wall: Int64, alive: Int, at now: Instant) -> Int64 {
    guard growsWhenSlow else { return wall }
    defer { lastEnd = now }
    // The first one says more than what was assumed of all.
    guard let lastEnd else {
      meanWallMicroseconds = min(wall, Self.longMicroseconds)
      return meanWallMicroseconds
    }
    return min(wall, (now.nanoseconds - lastEnd.nanoseconds) / 1000 * Int64(max(alive, 1)))
  }

  /// Returns whether it has just become slow. Its tasks are then not taken for short any more, until
  /// some show that they are.
  mutating func noteTime(_ now: Instant) -> Bool {
    guard let due = slowFrom, due <= now else { return false }
    slowFrom = nil
    isSlow = true
    meanWallMicroseconds = max(meanWallMicroseconds, Self.longMicroseconds)
    return true
  }

  /// What tasks of a kind that grows when it is slow are taken to last at most, so that a few short
  /// ones change that.
  static let longMicroseconds = SchedulerOptions.shortTaskMicroseconds * 2
}
