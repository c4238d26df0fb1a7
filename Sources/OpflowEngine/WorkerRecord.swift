internal import OpflowPlan

/// It starts when the task before it has succeeded.
struct HandedAhead {
  var task: TaskID
  var isRevoking = false
}

struct WorkerRecord {
  enum Phase { case launching, idle, busy, gone }
  let kind: WorkerKind
  let site: SiteID
  var phase = Phase.launching
  /// Running, or the first after the hello.
  var current = TaskID.none
  /// In start order, of one demand class.
  var ahead: [HandedAhead] = []
  /// Of `current`; nil and -1 while idle.
  var share: Share?
  var lane: Int32 = -1
  /// `current` was told to stop.
  var isStopping = false
  /// A request suspended `current`.
  var standsStill = false
  /// Told to end; it keeps its resources until it is known to be gone.
  var isDiscarded = false
  /// Not replaced, and its loss is not held against the node.
  var isSpared = false
  var complaint = ""
  var knowsRunState = false
  /// It knows an earlier session's plan, and gets no other task.
  var isOfEarlierDrive = false
  /// Places in its node, its pool and the `Backlogs`; -1 if absent.
  var place: Int32 = -1
  var idlePlace: Int32 = -1
  var backlogPlace: Int32 = -1
  /// With which it was put into the `Backlogs`.
  var backlogLane: Int32 = 0
  var backlogDepth: Int32 = 0

  init(kind: WorkerKind, site: SiteID) {
    self.kind = kind
    self.site = site
  }

  mutating func hold(_ task: TaskID, lane: Int, _ share: Share) {
    current = task
    self.lane = Int32(truncatingIfNeeded: lane)
    self.share = share
  }

  /// Returns its resources.
  mutating func letGo() -> Share? {
    current = .none
    lane = -1
    isStopping = false
    standsStill = false
    return share.take()
  }

  mutating func rest(at place: Int) {
    phase = .idle
    idlePlace = Int32(truncatingIfNeeded: place)
  }

  /// Tasks can be prefetched behind its own.
  var mayHaveMore: Bool {
    phase == .busy && !current.isNone && !isStopping && !standsStill && !isDiscarded
  }
}
