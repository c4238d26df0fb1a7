package import OpflowJournal
package import OpflowPlan

package struct SchedulerOptions: Sendable {
  /// The capacity of `cpu`.
  package var maxParallel: UInt64
  /// Unless the manifest sets `memory`.
  package var memoryBytes: UInt64
  /// Of the local node.
  package var gpus = UInt64(DeviceSet.most)
  /// Failures after which nothing new starts; 0: no limit.
  package var maxFailures: Int
  /// Varies retry delays.
  package var seed: UInt64
  /// Prefetch tasks.
  package var prefetches = true
  /// At the start.
  package var processorsAway: UInt64 = 0
  /// Lend idle `cpu` to tasks with a jobserver.
  package var lendsTokens = true
  /// Give up workers that hang; simulated ones do not answer pings.
  package var watchesWorkers = true
  /// In a forecast they are not, and each `if` that reads some holds.
  package var knowsValues = true
  /// Tasks run on remote nodes, which join later.
  package var usesNodes = false
  /// The most `cpu` held on all nodes together.
  package var wholeParallel: UInt64?
  /// Of a task before any has ended.
  package var expectedWallMicroseconds: Int64 = SchedulerOptions.shortTaskMicroseconds * 8

  package init(maxParallel: UInt64, memoryBytes: UInt64, maxFailures: Int, seed: UInt64) {
    self.maxParallel = maxParallel
    self.memoryBytes = memoryBytes
    self.maxFailures = maxFailures
    self.seed = seed
  }

  /// Unless the manifest sets `download`.
  static let defaultDownloads: UInt64 = 4
  /// Tasks that hold no `cpu` need workers too.
  static let workersPerParallel: UInt64 = 4
  /// With a thousand, the last ones would take so long that they look dead.
  static let maxLaunching = 64
  static let maxCheckers: UInt64 = 8
  /// From launch to hello.
  static let helloMilliseconds: Int64 = 10_000
  /// Beyond a task's grace until its end is reported.
  package static let stopSlackMilliseconds: Int64 = 5_000
  /// Between two checks for silence.
  static let listenMilliseconds: Int64 = 5_000
  /// From a ping to its answer.
  static let pulseMilliseconds: Int64 = 10_000
  /// Retries of a task whose worker was lost.
  static let maxLost: UInt8 = 3
  /// Workers in a row without a hello before their tasks fail.
  static let maxSilent = 3
  /// Consecutive waits of a kind's first or last worker for a process: half a minute together.
  package static let maxShortages = 20
  package static func shortageMilliseconds(_ count: Int) -> Int64 {
    min(50 << min(count, 6), 2_000)
  }
  /// Shorter tasks are prefetched: the hop to the coordinator is a part of their time.
  static let shortTaskMicroseconds: Int64 = 20_000
  /// Prefetched per worker, if together they take at most `prefetchedCommandsMicroseconds`;
  /// otherwise one.
  static let maxPrefetchedCommands = 8
  /// Returns after which a task is not prefetched again.
  package static let mostReturns: UInt8 = 2
  static let prefetchedCommandsMicroseconds: Int64 = 8_000
  /// Of the coordinator's rest (`restNanoseconds`).
  static let maxRestMicroseconds: Int64 = 2_000
  static let minRestMicroseconds: Int64 = 200
  /// Prefetched per worker: synced together, many hardly take longer than one.
  static let maxPrefetchedDownloads = 64
  /// Scanned before a task is prefetched.
  static let maxDependentsLookedAt = 16
  /// Scanned for the node where they ran.
  static let maxNeedsLookedAt = 8
  /// Scanned in vain in one prefetching pass.
  static let maxWorkersLookedAt = 64
  /// A task that did not use its tokens is lent none for so long.
  static let loanRestMilliseconds: Int64 = 1_000
  /// Scanned for room for recalled tasks.
  static let maxNodesLookedAt = 16
  /// Scanned for tasks to recall, per pass.
  static let maxClassesLookedAt = 64
  /// Blocked classes after which a pass ends, for plans in which all demands differ.
  static let maxBlocked = 256
}

extension SchedulerOptions {
  /// By the manifest, the machine and the command line.
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

  /// For the journal.
  package func limits(of plan: Plan) -> SessionLimits {
    var limits = SessionLimits()
    limits.capacities = zip(plan.resources, capacities(of: plan)).map {
      SessionLimits.Capacity(name: plan.string($0.name), amount: $1)
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
