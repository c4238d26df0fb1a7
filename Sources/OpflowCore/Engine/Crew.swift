/// The workers of one kind on one machine.
struct Crew {
  /// How many there may be.
  var limit: Int
  var alive = 0
  /// How many of them have not said hello yet.
  var launching = 0
  private(set) var idle: [WorkerID] = []
  /// How many in a row were lost without a hello.
  var silent = 0
  /// No processes can be made at the moment: it takes nothing.
  var isPaused = false
  /// Why tasks of this kind cannot run here at all.
  var complaint: String?

  init(limit: Int) { self.limit = max(limit, 1) }

  /// Whether one of them may be given something.
  var hasIdle: Bool { !idle.isEmpty && !isPaused }

  /// One more may be launched, as far as this machine goes.
  var hasRoom: Bool {
    complaint == nil && !isPaused && alive < limit && launching < SchedulerOptions.maxLaunching
  }

  /// Adds one that is free, and says where it stands.
  mutating func addIdle(_ worker: WorkerID) -> Int {
    idle.append(worker)
    return idle.count - 1
  }

  /// Takes one out that stands there, and says which one stands in its place now.
  mutating func removeIdle(at place: Int) -> WorkerID? { idle.removeBySwapping(at: place) }
}

/// How many workers of a kind there are, and what each is handed ahead.
extension WorkerKind {
  /// How many of it there may be on a machine with so many processors, where so many downloads may go on.
  func limit(cpu: UInt64, downloads: UInt64) -> Int {
    switch self {
    case .command:
      let commands = cpu.multipliedReportingOverflow(by: SchedulerOptions.workersPerParallel)
      return commands.overflow ? 1 << 20 : Int(min(commands.partialValue, 1 << 20))
    case .download: return Int(min(max(downloads, 1), 1 << 10))
    case .check: return Int(min(max(cpu, 1), SchedulerOptions.maxCheckers))
    // Of services as many as there are (`Workforce.setServices`).
    // Of seats in programs as many as blocks run at once.
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

/// A machine, and who works there.
struct Site {
  var crews: ByKind<Crew>
  /// All workers of the machine that live.
  var workers: [WorkerID] = []
  /// What it has is told by its first worker.
  var isUnknown = false
  var isGone = false
}
