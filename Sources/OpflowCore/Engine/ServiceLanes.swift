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

  /// By task; -1 for one that neither is a service nor needs one. Empty in a plan without.
  private var lanes: [Int32] = []
  /// By lane, from `first` on.
  private(set) var demands: [UInt32] = []
  /// All services that tasks of it need, directly or by others, each behind those that it needs.
  private var services: [[TaskID]] = []
  /// The group of its tasks; -1 where they are bound to the coordinator's machine.
  private var groups: [Int32] = []
  let first: Int
  /// How many groups there are that are on any machine.
  let groupCount: Int

  /// - Parameter groupOf: what is to be on one machine, which need not be this one; nil in a run on this one alone.
  init(plan: Plan, first: Int, groups groupOf: ServiceGroups? = nil) {
    self.first = first
    groupCount = groupOf?.count ?? 0
    guard plan.hasServices else { return }
    lanes = [Int32](repeating: -1, count: plan.taskCount)
    var known: [Key: Int32] = [:]
    for index in plan.topologicalOrder {
      let task = TaskID(index)
      let direct = plan.services(neededBy: task)
      if direct.isEmpty && !plan.isService(task) { continue }
      var all: [TaskID] = []
      for service in direct {
        for needed in self.services(of: service) + [service] where !all.contains(needed) {
          all.append(needed)
        }
      }
      let group = Int32(truncatingIfNeeded: groupOf?.group(of: task) ?? -1)
      // In an order of their own, so that the order of the needs makes no further lane.
      let key = Key(
        demand: plan.demand[task.index], services: all.sorted { $0.rawValue < $1.rawValue },
        group: group, isService: plan.isService(task))
      let lane = known[key] ?? Int32(truncatingIfNeeded: first + demands.count)
      if known.updateValue(lane, forKey: key) == nil {
        demands.append(key.demand)
        services.append(all)
        groups.append(group)
      }
      lanes[task.index] = lane
    }
  }

  @inline(__always)
  func lane(of task: TaskID) -> Int? {
    if lanes.isEmpty { return nil }
    let lane = lanes[task.index]
    return lane < 0 ? nil : Int(lane)
  }

  /// Whether the lane is one of these.
  @inline(__always)
  func contains(_ lane: Int) -> Bool { !lanes.isEmpty && lane >= first }

  /// All services that a task needs, each behind those that it needs itself.
  func services(of task: TaskID) -> [TaskID] { lane(of: task).map { services[$0 - first] } ?? [] }

  /// The group of a lane, where that may be on any machine.
  @inline(__always)
  func group(of lane: Int) -> Int? {
    guard groupCount > 0, contains(lane), groups[lane - first] >= 0 else { return nil }
    return Int(groups[lane - first])
  }

  /// All lanes of the group that a service is of.
  func lanes(ofGroupOf service: TaskID) -> [Int] {
    guard let group = lane(of: service).flatMap({ group(of: $0) }) else { return [] }
    return groups.indices.filter { groups[$0] == group }.map { first + $0 }
  }

  /// A lane, and those of all services that its tasks need.
  func lanesTogether(_ lane: Int) -> [Int] {
    [lane] + services[lane - first].compactMap { self.lane(of: $0) }
  }
}
