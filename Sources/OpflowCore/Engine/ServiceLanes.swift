/// The lanes of tasks that need services, and of services: together they are started, so that of one lane are
/// those that want the same and need the same services, and either are services or not; in a run with further machines also
/// those of one group, which is on one machine.
struct ServiceLanes {
  private struct Key: Hashable {
    let demand: UInt32
    let services: [TaskID]
    let group: Int32
    /// What stays for good keeps nothing from others, and so stands before none in a lane.
    let isService: Bool
  }

  private struct Entry {
    let lane: Int
    /// All services that tasks of it need, directly or by others, each behind those that it needs.
    let services: [TaskID]
    /// The group of its tasks; -1 where they are bound to the coordinator's machine.
    let group: Int32
  }

  /// By task; -1 for one that neither is a service nor needs one. Empty in a plan without.
  private var lanes: [Int32] = []
  private var entries: [Entry] = []
  /// By lane: its place in `entries`; -1 for one of other tasks.
  private var places: [Int32] = []
  private var known: [Key: Int] = [:]
  /// How many groups there are that are on any machine.
  private(set) var groupCount = 0

  /// Gives lanes to the tasks of a plan from a number on, which it did not have before.
  ///
  /// - Parameter groupOf: what is to be on one machine, which need not be this one; nil in a run on this one alone.
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
      for service in direct {
        for needed in self.services(of: service) + [service] where !services.contains(needed) {
          services.append(needed)
        }
      }
      let group = Int32(truncatingIfNeeded: groupOf?.group(of: task) ?? -1)
      // In an order of their own, so that the order of the needs makes no further lane.
      let key = Key(
        demand: plan.demand[task.index], services: services.sorted { $0.rawValue < $1.rawValue },
        group: group, isService: plan.isService(task))
      let lane = known[key] ?? append(key, services, to: &all)
      lanes[task.index] = Int32(truncatingIfNeeded: lane)
    }
  }

  private mutating func append(
    _ key: Key, _ services: [TaskID], to all: inout Lanes
  ) -> Int {
    let lane = all.append(key.demand, isLocal: key.group < 0)
    known[key] = lane
    while places.count < lane { places.append(-1) }
    places.append(Int32(truncatingIfNeeded: entries.count))
    entries.append(Entry(lane: lane, services: services, group: key.group))
    return lane
  }

  @inline(__always)
  func lane(of task: TaskID) -> Int? {
    if lanes.isEmpty { return nil }
    let lane = lanes[task.index]
    return lane < 0 ? nil : Int(lane)
  }

  /// Whether the lane is one of these.
  @inline(__always)
  func contains(_ lane: Int) -> Bool { lane < places.count && places[lane] >= 0 }

  /// The place of a lane among these; nil for one of tasks without services.
  @inline(__always)
  func place(of lane: Int) -> Int? {
    contains(lane) ? Int(places[lane]) : nil
  }

  /// Their numbers, by their places.
  var numbers: [Int] { entries.map(\.lane) }

  /// All services that a task needs, each behind those that it needs itself.
  func services(of task: TaskID) -> [TaskID] {
    lane(of: task).flatMap { place(of: $0) }.map { entries[$0].services } ?? []
  }

  /// The group of a lane, where that may be on any machine.
  @inline(__always)
  func group(of lane: Int) -> Int? {
    guard groupCount > 0, let place = place(of: lane), entries[place].group >= 0 else { return nil }
    return Int(entries[place].group)
  }

  /// All lanes of the group that a service is of.
  func lanes(ofGroupOf service: TaskID) -> [Int] {
    guard let group = lane(of: service).flatMap({ group(of: $0) }) else { return [] }
    return entries.filter { $0.group == group }.map(\.lane)
  }

  /// A lane, and those of all services that its tasks need.
  func lanesTogether(_ lane: Int) -> [Int] {
    let services = place(of: lane).map { entries[$0].services } ?? []
    return [lane] + services.compactMap { self.lane(of: $0) }
  }
}
