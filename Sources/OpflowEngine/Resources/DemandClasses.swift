internal import OpflowPlan

/// Numbers stay when tasks are added.
struct DemandClasses {
  struct DemandClass {
    let demand: UInt32
    let isLocal: Bool
    fileprivate(set) var isUsed: Bool
  }

  private(set) var all: [DemandClass] = []
  // By demand; empty without such tasks. Tasks with services have further classes.
  private var here: [Int32] = []
  private var elsewhere: [Int32] = []
  private var terminal: [Int32] = []
  private var blocks: [Int32] = []

  var count: Int { all.count }

  subscript(demandClass: Int) -> DemandClass { all[demandClass] }

  @inline(__always)
  func demandClass(of demand: Int, isLocal: Bool) -> Int {
    Int(isLocal ? here[demand] : elsewhere[demand])
  }

  @inline(__always)
  func terminalClass(of demand: Int) -> Int { Int(terminal[demand]) }

  /// External tasks are never prefetched behind commands.
  @inline(__always)
  func externalClass(of demand: Int) -> Int { Int(blocks[demand]) }

  mutating func cover(_ plan: Plan, usesNodes: Bool) {
    Self.cover(plan, &here, &all, isLocal: true)
    if usesNodes { Self.cover(plan, &elsewhere, &all, isLocal: false) }
    if plan.hasInteractive { Self.cover(plan, &terminal, &all, isLocal: true) }
    if plan.hasExternalTasks { Self.cover(plan, &blocks, &all, isLocal: true) }
  }

  private static func cover(
    _ plan: Plan, _ numbers: inout [Int32], _ all: inout [DemandClass], isLocal: Bool
  ) {
    while numbers.count < plan.demandCount {
      let demand = UInt32(truncatingIfNeeded: numbers.count)
      numbers.append(Int32(truncatingIfNeeded: all.count))
      all.append(DemandClass(demand: demand, isLocal: isLocal, isUsed: false))
    }
  }

  mutating func append(_ demand: UInt32, isLocal: Bool) -> Int {
    all.append(DemandClass(demand: demand, isLocal: isLocal, isUsed: true))
    return all.count - 1
  }

  mutating func use(_ demandClass: Int) { all[demandClass].isUsed = true }
}

struct ServiceClasses {
  private struct Key: Hashable {
    let demand: UInt32
    let services: [TaskID]
    let group: Int32
    /// Services that stay up reserve nothing, and must not be ahead of others.
    let isService: Bool
  }

  private struct Entry {
    let demandClass: Int
    let services: [TaskID]
    /// -1 if bound to the local node.
    let group: Int32
  }

  /// By task; -1 without services.
  private var demandClasses: [Int32] = []
  private var entries: [Entry] = []
  /// Places in `entries`, by class; -1 without services.
  private var places: [Int32] = []
  private var known: [Key: Int] = [:]
  /// Includes indirect users.
  private var using: [TaskID: [Int]] = [:]
  /// Groups that can be on any node.
  private(set) var groupCount = 0

  mutating func add(
    tasksOf plan: Plan, from first: Int, groups groupOf: ServiceGroups?, to all: inout DemandClasses
  ) {
    guard plan.hasServices else { return }
    groupCount = groupOf?.count ?? 0
    while demandClasses.count < plan.taskCount { demandClasses.append(-1) }
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
      let demandClass = known[key] ?? append(key, services, to: &all)
      demandClasses[task.index] = Int32(truncatingIfNeeded: demandClass)
    }
  }

  private mutating func append(_ key: Key, _ services: [TaskID], to all: inout DemandClasses) -> Int
  {
    let demandClass = all.append(key.demand, isLocal: key.group < 0)
    known[key] = demandClass
    while places.count < demandClass { places.append(-1) }
    places.append(Int32(truncatingIfNeeded: entries.count))
    entries.append(Entry(demandClass: demandClass, services: services, group: key.group))
    for service in services { using[service, default: []].append(demandClass) }
    return demandClass
  }

  @inline(__always)
  func demandClass(of task: TaskID) -> Int? {
    if demandClasses.isEmpty { return nil }
    let demandClass = demandClasses[task.index]
    return demandClass < 0 ? nil : Int(demandClass)
  }

  @inline(__always)
  func contains(_ demandClass: Int) -> Bool {
    demandClass < places.count && places[demandClass] >= 0
  }

  @inline(__always)
  func place(of demandClass: Int) -> Int? {
    contains(demandClass) ? Int(places[demandClass]) : nil
  }

  var numbers: [Int] { entries.map(\.demandClass) }

  /// Direct and indirect, in start order.
  func services(of task: TaskID) -> [TaskID] {
    demandClass(of: task).flatMap { place(of: $0) }.map { entries[$0].services } ?? []
  }

  /// Nil if bound to the local node.
  @inline(__always)
  func group(of demandClass: Int) -> Int? {
    guard groupCount > 0, let place = place(of: demandClass), entries[place].group >= 0 else {
      return nil
    }
    return Int(entries[place].group)
  }

  func demandClasses(using service: TaskID) -> [Int] { using[service] ?? [] }

  func demandClasses(ofGroupOf service: TaskID) -> [Int] {
    guard let group = demandClass(of: service).flatMap({ group(of: $0) }) else { return [] }
    return entries.filter { $0.group == group }.map(\.demandClass)
  }

  /// Includes the classes of all services.
  func classesTogether(_ demandClass: Int) -> [Int] {
    let services = place(of: demandClass).map { entries[$0].services } ?? []
    return [demandClass] + services.compactMap { self.demandClass(of: $0) }
  }
}
