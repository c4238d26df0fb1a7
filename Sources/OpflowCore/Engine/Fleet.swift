/// A task that a worker has, to start when the one before it has ended well.
struct HandedAhead {
  var task: TaskID
  /// It was asked back.
  var isRevoking = false
}

/// A worker as the scheduler knows it.
struct WorkerRecord {
  enum Phase { case launching, idle, busy, gone }
  var kind: WorkerKind
  var phase = Phase.launching
  /// The task that it runs, or will run once it said hello.
  var current = TaskID.none
  /// The tasks that it was handed ahead, in the order in which it starts them; all of the demand
  /// of the one that it runs.
  var ahead: [HandedAhead] = []
  /// A stop was ordered for `current`.
  var isStopping = false
  /// Its end was ordered. What it holds stays held until it is known to be gone.
  var isDiscarded = false
  /// Why its end was ordered.
  var complaint = ""
  var knowsRunState = false
  /// Until then it must say hello, or that a task ended which was stopped or whose time is up.
  var deadline = Deadline()
  /// Until then it must answer a pulse.
  var answerBy: Instant?
  /// It has said something since it was last looked at.
  var wasHeard = true

  /// When something that it owes is due.
  var nextDue: Instant? {
    guard let at = deadline.at else { return answerBy }
    return answerBy.map { min($0, at) } ?? at
  }

  /// One that has said hello is to say something now and then.
  var isListenedTo: Bool {
    switch phase {
    case .idle, .busy: !isDiscarded
    case .launching, .gone: false
    }
  }

  /// The task whose demand it holds.
  var holder: TaskID { current.isNone ? ahead.first?.task ?? .none : current }
}

/// The workers of one kind.
struct Fleet {
  /// How many there may be.
  var limit: Int
  var alive = 0
  /// How many of them have not said hello yet.
  var launching = 0
  var idle: [WorkerID] = []
  /// How many in a row were lost without a hello.
  var silent = 0
  /// Why tasks of this kind cannot run at all.
  var complaint: String?

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
    limit: Int, maxAhead: Int, aheadMicroseconds: Int64? = nil, growsWhenSlow: Bool = false,
    expectedWall: Int64
  ) {
    self.limit = max(limit, 1)
    self.maxAhead = maxAhead
    self.aheadMicroseconds = aheadMicroseconds
    self.growsWhenSlow = growsWhenSlow
    meanWallMicroseconds = expectedWall
  }

  var mayGrow: Bool { alive < limit && (!growsWhenSlow || alive == 0 || isSlow) }

  /// A task that is ready, and has its resources, would not have to wait.
  var couldStartAnother: Bool { !idle.isEmpty || mayGrow && growsWhenSlow }

  /// How many tasks each of them is to have ahead now, while `ready` others wait.
  func aheadNow(ready: Int) -> Int {
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
    alive += 1
    launching += 1
    guard isSlow else { return }
    isSlow = false
    noteStart(at: now)
  }

  mutating func noteStart(at now: Instant) {
    guard growsWhenSlow, !isSlow, slowFrom == nil else { return }
    slowFrom = now.advanced(byMilliseconds: SchedulerOptions.shortTaskMicroseconds / 1000)
  }

  mutating func noteEnd(wallMicroseconds wall: Int64, at now: Instant) {
    meanWallMicroseconds += (share(of: wall, at: now) - meanWallMicroseconds) / 8
    slowFrom = nil
    isSlow = false
    // The one whose task ended counts as busy still.
    if alive > idle.count + launching + 1 { noteStart(at: now) }
  }

  /// A download worker is at several at once: that its disk is slow to make one of them last says
  /// little of how many it does in a second.
  private mutating func share(of wall: Int64, at now: Instant) -> Int64 {
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

  /// What tasks of a fleet that grows when it is slow are taken to last at most, so that a few short
  /// ones change that.
  static let longMicroseconds = SchedulerOptions.shortTaskMicroseconds * 2
}
