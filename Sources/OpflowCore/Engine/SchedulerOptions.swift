/// The resources and limits of a session.
package struct SchedulerOptions: Sendable {
  /// The capacity of `cpu`.
  package var maxParallel: UInt64
  /// The capacity of `memory` if the manifest sets none.
  package var memoryBytes: UInt64
  /// The GPUs of the local node.
  package var gpus = UInt64(DeviceSet.most)
  /// The number of failures after which nothing new starts; 0: no limit.
  package var maxFailures: Int
  /// The seed of the generator that varies retry delays.
  package var seed: UInt64
  /// Whether tasks are prefetched.
  package var handsAhead = true
  /// The local `cpu` that other runs use at the start.
  package var processorsAway: UInt64 = 0
  /// Whether idle `cpu` is lent to tasks with a jobserver.
  package var lendsTokens = true
  /// Whether workers that hang are given up; simulated ones do not answer pings.
  package var watchesWorkers = true
  /// Whether values are known. In a forecast they are not, and each `if` that reads some holds.
  package var knowsValues = true
  /// Whether tasks run on remote nodes, which join later.
  package var usesSites = false
  /// The most `cpu` held on all nodes together; nil: what they have.
  package var wholeParallel: UInt64?
  /// The assumed duration of a task before any has ended.
  package var expectedWallMicroseconds: Int64 = SchedulerOptions.shortTaskMicroseconds * 8

  package init(maxParallel: UInt64, memoryBytes: UInt64, maxFailures: Int, seed: UInt64) {
    self.maxParallel = maxParallel
    self.memoryBytes = memoryBytes
    self.maxFailures = maxFailures
    self.seed = seed
  }

  /// The capacity of `download` if the manifest sets none.
  static let defaultDownloads: UInt64 = 4
  /// Workers per CPU: tasks that hold no `cpu` need workers too.
  static let workersPerParallel: UInt64 = 4
  /// The most launching workers. With a thousand the last ones would take so long that they look
  /// dead.
  static let maxLaunching = 64
  static let maxCheckers: UInt64 = 8
  /// The time from launch to hello.
  static let helloMilliseconds: Int64 = 10_000
  /// The time beyond a task's grace until its end is reported.
  package static let stopSlackMilliseconds: Int64 = 5_000
  /// The time between two checks for silence.
  static let listenMilliseconds: Int64 = 5_000
  /// The time from a ping to its answer.
  static let pulseMilliseconds: Int64 = 10_000
  /// The number of retries of a task whose worker was lost.
  static let maxLost: UInt8 = 3
  /// The number of workers in a row without a hello before their tasks fail.
  static let maxSilent = 3
  /// The number of consecutive waits of a kind's first or last worker for a process. They take half
  /// a minute together.
  package static let maxShortages = 20
  package static func shortageMilliseconds(_ count: Int) -> Int64 {
    min(50 << min(count, 6), 2_000)
  }
  /// Tasks shorter than this are handed ahead: the hop to the coordinator is a part of their time.
  static let shortTaskMicroseconds: Int64 = 20_000
  /// The most commands prefetched by a worker, if together they take at most
  /// `commandsAheadMicroseconds`; otherwise one.
  static let maxCommandsAhead = 8
  /// The number of returns after which a task is not prefetched again.
  package static let mostReturns: UInt8 = 2
  static let commandsAheadMicroseconds: Int64 = 8_000
  /// Limits of the coordinator's rest (`restNanoseconds`).
  static let maxRestMicroseconds: Int64 = 2_000
  static let minRestMicroseconds: Int64 = 200
  /// The most downloads prefetched by a worker. They are synced together, and many hardly take
  /// longer than one.
  static let maxDownloadsAhead = 64
  /// The most dependents scanned before a task is prefetched.
  static let maxDependentsLookedAt = 16
  /// The most dependencies scanned for the node where they ran.
  static let maxNeedsLookedAt = 8
  /// The most workers scanned in vain in one prefetching pass.
  static let maxWorkersLookedAt = 64
  /// The time in which a task that did not use its tokens is lent none.
  static let loanRestMilliseconds: Int64 = 1_000
  /// The most nodes scanned for room for recalled tasks.
  static let maxSitesLookedAt = 16
  /// The most classes scanned for tasks to recall, per pass.
  static let maxLanesLookedAt = 64
  /// The number of blocked classes after which a pass ends, for plans in which all demands differ.
  static let maxBlocked = 256
}

extension SchedulerOptions {
  /// Returns the capacities, from the manifest, the machine and the command line.
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

  /// Returns the limits to journal.
  package func limits(of plan: Plan) -> DriveLimits {
    var limits = DriveLimits()
    limits.capacities = zip(plan.resources, capacities(of: plan)).map {
      DriveLimits.Capacity(name: plan.string($0.name), amount: $1)
    }
    limits.maxFailures = maxFailures
    return limits
  }

  func downloads(of plan: Plan) -> UInt64 {
    let capacities = capacities(of: plan)
    let download = Int(ResourceEntry.download)
    return capacities.count > download ? capacities[download] : Self.defaultDownloads
  }
}
