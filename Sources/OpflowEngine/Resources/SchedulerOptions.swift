package import OpflowJournal
package import OpflowPlan

package struct SchedulerOptions: Sendable {
  package var maxParallel: UInt64
  /// Used unless the manifest sets `memory`.
  package var memoryBytes: UInt64
  package var gpus = UInt64(DeviceSet.most)
  /// Failures after which nothing new starts; 0 for no limit.
  package var maxFailures: Int
  /// The seed of retry delays.
  package var seed: UInt64
  package var prefetches = true
  /// The `cpu` that other runs use at the start.
  package var processorsAway: UInt64 = 0
  package var lendsTokens = true
  /// Simulated workers do not answer pings.
  package var watchesWorkers = true
  /// False in a forecast, where each `if` that reads values holds.
  package var knowsValues = true
  /// Remote nodes join later.
  package var usesNodes = false
  /// The most `cpu` held on all nodes together.
  package var wholeParallel: UInt64?
  /// The expected duration of a task before any has ended.
  package var expectedWallMicroseconds: Int64 = SchedulerOptions.shortTaskMicroseconds * 8

  package init(maxParallel: UInt64, memoryBytes: UInt64, maxFailures: Int, seed: UInt64) {
    self.maxParallel = maxParallel
    self.memoryBytes = memoryBytes
    self.maxFailures = maxFailures
    self.seed = seed
  }

  /// Used unless the manifest sets `download`.
  static let defaultDownloads: UInt64 = 4
  /// Tasks that hold no `cpu` need workers too.
  static let workersPerParallel: UInt64 = 4
  /// With a thousand, the last ones would take so long that they seem dead.
  static let maxLaunching = 64
  static let maxCheckers: UInt64 = 8
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
  /// Per worker, if together they take at most `prefetchedCommandsMicroseconds`, else one.
  static let maxPrefetchedCommands = 8
  /// After so many returns a task is not prefetched again.
  package static let mostReturns: UInt8 = 2
  static let prefetchedCommandsMicroseconds: Int64 = 8_000
  static let maxRestMicroseconds: Int64 = 2_000
  static let minRestMicroseconds: Int64 = 200
  /// Per worker: synced together, many hardly take longer than one.
  static let maxPrefetchedDownloads = 64
  /// Dependents scanned before a task is prefetched.
  static let maxDependentsLookedAt = 16
  /// Dependencies scanned for the node where they ran.
  static let maxNeedsLookedAt = 8
  /// Workers scanned in vain in one prefetching pass.
  static let maxWorkersLookedAt = 64
  /// The rest of a task that did not use its tokens.
  static let loanRestMilliseconds: Int64 = 1_000
  /// Nodes scanned for room for recalled tasks.
  static let maxNodesLookedAt = 16
  /// Classes scanned for tasks to recall, per pass.
  static let maxClassesLookedAt = 64
  /// Blocked classes after which a pass ends, for plans in which all demands differ.
  static let maxBlocked = 256
}

extension SchedulerOptions {
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
