/// What tasks share out: how much there is, and how much is free.
struct ResourcePool {
  private(set) var capacity: [UInt64]
  private(set) var free: [UInt64]
  /// Held back for the first ready task that does not fit; empty while there is none.
  private var reserved: [DemandItem] = []
  /// The demands of the plan, cut to the whole: a task that wants more runs alone. (Of a named
  /// resource the manifest reader has refused that.)
  private let demands: [[DemandItem]]
  /// Of each resource, what every task wants at least: where less is left, nothing more fits.
  private let leastWanted: [UInt64]

  init(plan: Plan, options: SchedulerOptions) {
    let capacity = options.capacities(of: plan)
    self.capacity = capacity
    free = capacity
    let demands = (0..<plan.demandCount).map { demand in
      plan.demandList(UInt32(truncatingIfNeeded: demand)).map { item in
        var item = item
        item.amount = min(item.amount, capacity[Int(item.resource)])
        return item
      }
    }
    self.demands = demands
    // Demand 0 is the empty one, which is there whether a task has it or not.
    var least = [UInt64](repeating: .max, count: capacity.count)
    var isUsed = [Bool](repeating: false, count: demands.count)
    for demand in plan.demand { isUsed[Int(demand)] = true }
    for demand in demands.indices where isUsed[demand] {
      for resource in least.indices {
        let item = demands[demand].first { Int($0.resource) == resource }
        least[resource] = min(least[resource], item?.amount ?? 0)
      }
    }
    leastWanted = least
  }

  /// Whether any task might still fit.
  var mayFitMore: Bool { zip(free, leastWanted).allSatisfy { $0 >= $1 } }

  /// What a demand takes, cut to the whole.
  func demand(_ demand: Int) -> [DemandItem] { demands[demand] }

  /// Whether a demand fits into what is free and not held back.
  func fits(_ demand: Int) -> Bool {
    demands[demand].allSatisfy { item in
      let held = reserved.first { $0.resource == item.resource }?.amount ?? 0
      let (sum, overflow) = item.amount.addingReportingOverflow(held)
      return !overflow && sum <= free[Int(item.resource)]
    }
  }

  mutating func take(_ demand: Int) {
    for item in demands[demand] { free[Int(item.resource)] -= item.amount }
  }

  mutating func give(_ demand: Int) {
    for item in demands[demand] { free[Int(item.resource)] += item.amount }
  }

  /// Holds back all that `demand` wants, so that smaller tasks cannot starve it.
  mutating func reserve(_ demand: Int) { reserved = demands[demand] }

  mutating func clearReservation() { reserved.removeAll(keepingCapacity: true) }

  /// What all holders of `demand`s together hold, for checks.
  func held(by holders: [Int]) -> [UInt64] {
    var sum = [UInt64](repeating: 0, count: capacity.count)
    for holder in holders {
      for item in demands[holder] { sum[Int(item.resource)] += item.amount }
    }
    return sum
  }
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
    return capacities
  }
}
