internal import OpflowPlan

/// Starts when the task before it has succeeded.
struct PrefetchedTask {
  var task: TaskID
  var isRevoking = false
}

struct WorkerRecord {
  enum State { case launching, idle, busy, gone }
  let kind: WorkerKind
  let node: NodeID
  var state = State.launching
  /// Running, or the first after the hello.
  var current = TaskID.none
  /// In start order, of one demand class.
  var ahead: [PrefetchedTask] = []
  /// For `current`; nil and -1 while idle.
  var share: Share?
  var demandClass: Int32 = -1
  var isStopping = false
  var standsStill = false
  /// Told to end; it keeps its resources until it is known to be gone.
  var isDiscarded = false
  /// Not replaced, and its loss is not held against the node.
  var isSpared = false
  var complaint = ""
  var knowsRunState = false
  /// The worker knows an earlier session's plan, and gets no other task.
  var isOfEarlierSession = false
  /// Places in its node, its pool and the `Backlogs`; -1 if absent.
  var place: Int32 = -1
  var idlePlace: Int32 = -1
  var backlogPlace: Int32 = -1
  /// The class and depth under which the `Backlogs` have it.
  var backlogClass: Int32 = 0
  var backlogDepth: Int32 = 0

  init(kind: WorkerKind, node: NodeID) {
    self.kind = kind
    self.node = node
  }

  mutating func hold(_ task: TaskID, demandClass: Int, _ share: Share) {
    current = task
    self.demandClass = Int32(truncatingIfNeeded: demandClass)
    self.share = share
  }

  mutating func letGo() -> Share? {
    current = .none
    demandClass = -1
    isStopping = false
    standsStill = false
    return share.take()
  }

  mutating func rest(at place: Int) {
    state = .idle
    idlePlace = Int32(truncatingIfNeeded: place)
  }

  /// Tasks can be prefetched behind its own.
  var mayHaveMore: Bool {
    state == .busy && !current.isNone && !isStopping && !standsStill && !isDiscarded
  }
}

struct WorkerPool {
  var limit: Int
  var alive = 0
  var launching = 0
  private(set) var idle: [WorkerID] = []
  /// Lost in a row without a hello.
  var silent = 0
  var isPaused = false
  var complaint: String?

  init(limit: Int) { self.limit = max(limit, 1) }

  var hasIdle: Bool { !idle.isEmpty && !isPaused }

  var hasRoom: Bool {
    complaint == nil && !isPaused && alive < limit && launching < SchedulerOptions.maxLaunching
  }

  mutating func addIdle(_ worker: WorkerID) -> Int {
    idle.append(worker)
    return idle.count - 1
  }

  mutating func removeIdle(at place: Int) -> WorkerID? { idle.removeBySwapping(at: place) }
}

extension WorkerKind {
  func limit(cpu: UInt64, downloads: UInt64) -> Int {
    switch self {
    case .command:
      let commands = cpu.multipliedReportingOverflow(by: SchedulerOptions.workersPerParallel)
      return commands.overflow ? 1 << 20 : Int(min(commands.partialValue, 1 << 20))
    case .download: return Int(min(max(downloads, 1), 1 << 10))
    case .check: return Int(min(max(cpu, 1), SchedulerOptions.maxCheckers))
    // Grows with the services (`Workforce.setServices`) and the running external tasks.
    case .terminal, .service, .block: return 1
    }
  }

  func throughput(_ options: SchedulerOptions) -> Throughput {
    switch self {
    case .command:
      Throughput(
        maxPrefetched: SchedulerOptions.maxPrefetchedCommands,
        prefetchedMicroseconds: SchedulerOptions.prefetchedCommandsMicroseconds,
        expectedWall: options.expectedWallMicroseconds)
    case .download:
      Throughput(
        maxPrefetched: SchedulerOptions.maxPrefetchedDownloads, growsWhenSlow: true,
        expectedWall: min(options.expectedWallMicroseconds, Throughput.longMicroseconds))
    case .terminal, .check, .service, .block:
      Throughput(maxPrefetched: 0, expectedWall: Throughput.longMicroseconds)
    }
  }
}

struct Node {
  var pools: ByKind<WorkerPool>
  var workers: [WorkerID] = []
  var isUnknown = false
  var isGone = false
}

package struct ByKind<Value> {
  private var values: Table<Value>

  init(_ value: (WorkerKind) -> Value) {
    values = Table(capacity: WorkerKind.allCases.count)
    for kind in WorkerKind.allCases { values.append(value(kind)) }
  }

  subscript(kind: WorkerKind) -> Value {
    @inline(__always) get { values[Int(kind.rawValue)] }
    @inline(__always) _modify { yield &values[Int(kind.rawValue)] }
  }
}
