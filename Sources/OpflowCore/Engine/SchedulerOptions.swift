/// What a drive may use, and when it gives up.
package struct SchedulerOptions: Sendable {
  /// Capacity of `cpu`.
  package var maxParallel: UInt64
  /// Capacity of `memory` where the manifest sets none, in bytes.
  package var memoryBytes: UInt64
  /// How many GPUs this machine has.
  package var gpus = UInt64(DeviceSet.most)
  /// Failures after which nothing new starts; 0 is no limit.
  package var maxFailures: Int
  /// Of the generator that jitters retries.
  package var seed: UInt64
  /// Whether a short task's worker may be handed the next task before it reports.
  package var handsAhead = true
  /// How much `cpu` of this machine others have at the beginning, who share it with this run.
  package var processorsAway: UInt64 = 0
  /// Whether `cpu` that idles is lent to tasks with a jobserver.
  package var lendsTokens = true
  /// Whether workers that hang are given up; imagined ones say nothing and do not hang.
  package var watchesWorkers = true
  /// Whether it is known what tasks leave for others, so that an `if` can be decided by it; a forecast
  /// takes each to hold.
  package var knowsValues = true
  /// Whether tasks run on other machines, which join later: all but those that are bound to this one.
  package var usesSites = false
  /// How much `cpu` tasks may hold on all machines together; nil for as much as these have.
  package var wholeParallel: UInt64?
  /// How long a task is taken to last before any has ended.
  package var expectedWallMicroseconds: Int64 = SchedulerOptions.shortTaskMicroseconds * 8

  package init(maxParallel: UInt64, memoryBytes: UInt64, maxFailures: Int, seed: UInt64) {
    self.maxParallel = maxParallel
    self.memoryBytes = memoryBytes
    self.maxFailures = maxFailures
    self.seed = seed
  }

  /// Capacity of `download` where the manifest sets none.
  static let defaultDownloads: UInt64 = 4
  /// Workers for each task that `cpu` lets run; more can be at work when tasks hold no cpu.
  static let workersPerParallel: UInt64 = 4
  /// Workers that may be on their way to their hello at once: a thousand would share the processors
  /// for so long that the last ones look dead.
  static let maxLaunching = 64
  /// Workers that look whether tasks are up to date.
  static let maxCheckers: UInt64 = 8
  /// From launch to hello.
  static let helloMilliseconds: Int64 = 10_000
  /// Beyond a task's own grace, from a stop to the word that it ended.
  package static let stopSlackMilliseconds: Int64 = 5_000
  /// From one look at which workers said nothing to the next.
  static let listenMilliseconds: Int64 = 5_000
  /// From a pulse to its answer.
  static let pulseMilliseconds: Int64 = 10_000
  /// Times that a task is run again because its worker was lost.
  static let maxLost: UInt8 = 3
  /// Workers in a row that say no hello before their tasks are failed.
  static let maxSilent = 3
  /// So often in a row the last worker of a kind waits for a process, in half a minute.
  package static let maxShortages = 20
  static func shortageMilliseconds(_ count: Int) -> Int64 { min(50 << min(count, 6), 2_000) }
  /// Tasks shorter than this are handed ahead: the hop to the coordinator is a part of their time.
  static let shortTaskMicroseconds: Int64 = 20_000
  /// Commands that a worker may be handed ahead, where they are so short that together they take
  /// this time at most; where not, one.
  static let maxCommandsAhead = 8
  /// A task that came back so often is not handed ahead again.
  package static let mostReturns: UInt8 = 2
  static let commandsAheadMicroseconds: Int64 = 8_000
  /// Of the coordinator while all workers have work (`restNanoseconds`).
  static let maxRestMicroseconds: Int64 = 2_000
  static let minRestMicroseconds: Int64 = 200
  /// Downloads that a worker may be handed ahead. They are made durable together, and many at once
  /// take hardly longer than one.
  static let maxDownloadsAhead = 64
  /// Dependents of a running task looked at before another is handed ahead behind it.
  static let maxDependentsLookedAt = 16
  /// Needs of a task looked at for where they ran.
  static let maxNeedsLookedAt = 8
  /// Workers that a task may not follow on, looked at in one pass that hands ahead.
  static let maxWorkersLookedAt = 64
  /// For so long a jobserver is lent nothing that had no use for what it was lent.
  static let loanRestMilliseconds: Int64 = 1_000
  /// Machines looked at for room for what may be taken back.
  static let maxSitesLookedAt = 16
  /// Lanes looked at for what may be taken back, in one pass.
  static let maxLanesLookedAt = 64
  /// Demands that do not fit, looked at after each other before the pass is given up: where all tasks
  /// differ in what they want, a pass must not look at all of them.
  static let maxBlocked = 256
}

extension SchedulerOptions {
  /// How much there is of each of a plan's resources: what its manifest says, and what the machine or
  /// the command line decides of the built-in ones.
  package func capacities(of plan: Plan) -> [UInt64] {
    var capacities = plan.resources.map(\.capacity)
    let builtIn = [maxParallel, memoryBytes, Self.defaultDownloads]
    for (resource, given) in builtIn.enumerated() where resource < capacities.count {
      if resource == Int(ResourceEntry.cpu) || capacities[resource] == 0 {
        capacities[resource] = given
      }
    }
    if let gpu = plan.gpuResource {
      capacities[gpu] = min(gpus, UInt64(DeviceSet.most)) * 1000
    }
    return capacities
  }

  /// What the journal is to tell of them.
  package func limits(of plan: Plan) -> DriveLimits {
    var limits = DriveLimits()
    limits.capacities = zip(plan.resources, capacities(of: plan)).map {
      DriveLimits.Capacity(name: plan.string($0.name), amount: $1)
    }
    limits.maxFailures = maxFailures
    return limits
  }

  /// How many downloads may go on at once.
  func downloads(of plan: Plan) -> UInt64 {
    let capacities = capacities(of: plan)
    let download = Int(ResourceEntry.download)
    return capacities.count > download ? capacities[download] : Self.defaultDownloads
  }
}
