internal import OpflowPlan

/// The workers of one kind on one node.
struct Crew {
  var limit: Int
  var alive = 0
  var launching = 0
  private(set) var idle: [WorkerID] = []
  /// Workers lost in a row without a hello.
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

  func pace(_ options: SchedulerOptions) -> Pace {
    switch self {
    case .command:
      Pace(
        maxAhead: SchedulerOptions.maxCommandsAhead,
        aheadMicroseconds: SchedulerOptions.commandsAheadMicroseconds,
        expectedWall: options.expectedWallMicroseconds)
    case .download:
      Pace(
        maxAhead: SchedulerOptions.maxDownloadsAhead, growsWhenSlow: true,
        expectedWall: min(options.expectedWallMicroseconds, Pace.longMicroseconds))
    case .terminal, .check, .service, .block:
      Pace(maxAhead: 0, expectedWall: Pace.longMicroseconds)
    }
  }
}

struct Site {
  var crews: ByKind<Crew>
  var workers: [WorkerID] = []
  var isUnknown = false
  var isGone = false
}
