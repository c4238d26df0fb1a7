/// A task that a worker has, to start when the one before it has ended well.
struct HandedAhead {
  var task: TaskID
  /// It was asked back.
  var isRevoking = false
}

/// A worker as the engine knows it.
struct WorkerRecord {
  enum Phase { case launching, idle, busy, gone }
  let kind: WorkerKind
  let site: SiteID
  var phase = Phase.launching
  /// The task that it runs, or will run once it said hello.
  var current = TaskID.none
  /// The tasks that it was handed ahead, in the order in which it starts them; all of the lane of the
  /// one that it runs.
  var ahead: [HandedAhead] = []
  /// What it holds for the one that runs, or will, and the lane of that; nil and -1 while it is idle.
  var share: Share?
  var lane: Int32 = -1
  /// A stop was ordered for `current`.
  var isStopping = false
  /// Its task was suspended by an order.
  var standsStill = false
  /// Its end was ordered. What it holds stays held until it is known to be gone.
  var isDiscarded = false
  /// The run goes on without it: that is no fault of its machine.
  var isSpared = false
  /// Why its end was ordered.
  var complaint = ""
  var knowsRunState = false
  /// It was started by an earlier drive, and knows the plan of that: it gets nothing else to do.
  var isOfEarlierDrive = false
  /// Where it stands among those of its site, of its crew's idle ones, and of those that may be handed
  /// more; -1 for nowhere.
  var place: Int32 = -1
  var idlePlace: Int32 = -1
  var backlogPlace: Int32 = -1
  /// Of which lane it was, and how many it had ahead, when it was put among those.
  var backlogLane: Int32 = 0
  var backlogDepth: Int32 = 0

  init(kind: WorkerKind, site: SiteID) {
    self.kind = kind
    self.site = site
  }

  /// It has that task, or is to get it when it is there.
  mutating func hold(_ task: TaskID, lane: Int, _ share: Share) {
    current = task
    self.lane = Int32(truncatingIfNeeded: lane)
    self.share = share
  }

  /// It has no task any more.
  ///
  /// - Returns: what it held for the one that it had.
  mutating func letGo() -> Share? {
    current = .none
    lane = -1
    isStopping = false
    standsStill = false
    return share.take()
  }

  /// It is free, and stands there among its crew's idle ones.
  mutating func rest(at place: Int) {
    phase = .idle
    idlePlace = Int32(truncatingIfNeeded: place)
  }

  /// It runs a task that it may have others behind.
  var mayHaveMore: Bool {
    phase == .busy && !current.isNone && !isStopping && !standsStill && !isDiscarded
  }
}
