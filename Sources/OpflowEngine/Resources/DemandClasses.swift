internal import OpflowPlan

/// Demand classes. Their numbers stay when tasks are added.
struct Lanes {
  struct Lane {
    let demand: UInt32
    /// Local node only.
    let isLocal: Bool
    fileprivate(set) var isUsed: Bool
  }

  private(set) var all: [Lane] = []
  // By demand; empty without such tasks. Tasks with services have further classes.
  private var here: [Int32] = []
  private var elsewhere: [Int32] = []
  private var terminal: [Int32] = []
  private var blocks: [Int32] = []

  var count: Int { all.count }

  subscript(lane: Int) -> Lane { all[lane] }

  @inline(__always)
  func lane(of demand: Int, isLocal: Bool) -> Int {
    Int(isLocal ? here[demand] : elsewhere[demand])
  }

  @inline(__always)
  func terminalLane(of demand: Int) -> Int { Int(terminal[demand]) }

  /// External tasks are never prefetched behind commands.
  @inline(__always)
  func blockLane(of demand: Int) -> Int { Int(blocks[demand]) }

  mutating func cover(_ plan: Plan, usesSites: Bool) {
    Self.cover(plan, &here, &all, isLocal: true)
    if usesSites { Self.cover(plan, &elsewhere, &all, isLocal: false) }
    if plan.hasInteractive { Self.cover(plan, &terminal, &all, isLocal: true) }
    if plan.hasBlocks { Self.cover(plan, &blocks, &all, isLocal: true) }
  }

  private static func cover(
    _ plan: Plan, _ numbers: inout [Int32], _ all: inout [Lane], isLocal: Bool
  ) {
    while numbers.count < plan.demandCount {
      let demand = UInt32(truncatingIfNeeded: numbers.count)
      numbers.append(Int32(truncatingIfNeeded: all.count))
      all.append(Lane(demand: demand, isLocal: isLocal, isUsed: false))
    }
  }

  mutating func append(_ demand: UInt32, isLocal: Bool) -> Int {
    all.append(Lane(demand: demand, isLocal: isLocal, isUsed: true))
    return all.count - 1
  }

  mutating func use(_ lane: Int) { all[lane].isUsed = true }
}

/// The classes of services and their users, by demand, services and group.
struct ServiceLanes {
  private struct Key: Hashable {
    let demand: UInt32
    let services: [TaskID]
    let group: Int32
    /// Services that stay up reserve nothing, and must not be ahead of others.
    let isService: Bool
  }

  private struct Entry {
    let lane: Int
    /// Direct and indirect, in start order.
    let services: [TaskID]
    /// -1 if bound to the local node.
    let group: Int32
  }

  /// By task; -1 without services.
  private var lanes: [Int32] = []
  private var entries: [Entry] = []
  /// In `entries`, by class; -1 without services.
  private var places: [Int32] = []
  private var known: [Key: Int] = [:]
  /// Classes by each of their direct and indirect services.
  private var using: [TaskID: [Int]] = [:]
  /// Groups that can be on any node.
  private(set) var groupCount = 0

  mutating func add(
    tasksOf plan: Plan, from first: Int, groups groupOf: ServiceGroups?, to all: inout Lanes
  ) {
    guard plan.hasServices else { return }
    groupCount = groupOf?.count ?? 0
    while lanes.count < plan.taskCount { lanes.append(-1) }
    for number in plan.order(addedFrom: first) {
      let task = TaskID(number)
      let direct = plan.services(neededBy: task)
      if direct.isEmpty && !plan.isService(task) { continue }
      var services: [TaskID] = []
      var seen: Set<TaskID> = []
      for service in direct {
        for needed in self.services(of: service) + [service] where seen.insert(needed).inserted {
          services.append(needed)
        }
      }
      let group = Int32(truncatingIfNeeded: groupOf?.group(of: task) ?? -1)
      // Sorted, since the order of `needs` makes no difference.
      let key = Key(
        demand: plan.demand[task.index], services: services.sorted { $0.rawValue < $1.rawValue },
        group: group, isService: plan.isService(task))
      let lane = known[key] ?? append(key, services, to: &all)
      lanes[task.index] = Int32(truncatingIfNeeded: lane)
    }
  }

  private mutating func append(_ key: Key, _ services: [TaskID], to all: inout Lanes) -> Int {
    let lane = all.append(key.demand, isLocal: key.group < 0)
    known[key] = lane
    while places.count < lane { places.append(-1) }
    places.append(Int32(truncatingIfNeeded: entries.count))
    entries.append(Entry(lane: lane, services: services, group: key.group))
    for service in services { using[service, default: []].append(lane) }
    return lane
  }

  @inline(__always)
  func lane(of task: TaskID) -> Int? {
    if lanes.isEmpty { return nil }
    let lane = lanes[task.index]
    return lane < 0 ? nil : Int(lane)
  }

  @inline(__always)
  func contains(_ lane: Int) -> Bool { lane < places.count && places[lane] >= 0 }

  @inline(__always)
  func place(of lane: Int) -> Int? {
    contains(lane) ? Int(places[lane]) : nil
  }

  /// By place.
  var numbers: [Int] { entries.map(\.lane) }

  /// Direct and indirect, in start order.
  func services(of task: TaskID) -> [TaskID] {
    lane(of: task).flatMap { place(of: $0) }.map { entries[$0].services } ?? []
  }

  /// Nil if bound to the local node.
  @inline(__always)
  func group(of lane: Int) -> Int? {
    guard groupCount > 0, let place = place(of: lane), entries[place].group >= 0 else { return nil }
    return Int(entries[place].group)
  }

  func lanes(using service: TaskID) -> [Int] { using[service] ?? [] }

  func lanes(ofGroupOf service: TaskID) -> [Int] {
    guard let group = lane(of: service).flatMap({ group(of: $0) }) else { return [] }
    return entries.filter { $0.group == group }.map(\.lane)
  }

  /// With those of all its services.
  func lanesTogether(_ lane: Int) -> [Int] {
    let services = place(of: lane).map { entries[$0].services } ?? []
    return [lane] + services.compactMap { self.lane(of: $0) }
  }
}
