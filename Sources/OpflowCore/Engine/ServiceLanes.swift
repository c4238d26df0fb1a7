/// The lanes of tasks that need services, and of services: together they are started, so that of one lane are
/// those that want the same and need the same services.
struct ServiceLanes {
  private struct Key: Hashable {
    let demand: UInt32
    let services: [TaskID]
  }

  /// By task; -1 for one that neither is a service nor needs one. Empty in a plan without.
  private var lanes: [Int32] = []
  /// By lane, from `first` on.
  private(set) var demands: [UInt32] = []
  /// All services that tasks of it need, directly or by others, each behind those that it needs.
  private var services: [[TaskID]] = []
  let first: Int

  init(plan: Plan, first: Int) {
    self.first = first
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
      // In an order of their own, so that the order of the needs makes no further lane.
      let key = Key(
        demand: plan.demand[task.index], services: all.sorted { $0.rawValue < $1.rawValue })
      let lane = known[key] ?? Int32(truncatingIfNeeded: first + demands.count)
      if known.updateValue(lane, forKey: key) == nil {
        demands.append(key.demand)
        services.append(all)
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
  func contains(_ lane: Int) -> Bool { !lanes.isEmpty && lane >= first }

  /// All services that a task needs, each behind those that it needs itself.
  func services(of task: TaskID) -> [TaskID] { lane(of: task).map { services[$0 - first] } ?? [] }
}
