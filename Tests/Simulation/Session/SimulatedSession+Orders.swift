import OpflowEngine
import OpflowPlan

/// Changes of capacities and priorities.
extension SimulatedSession {
  mutating func changeCapacity() throws(Finding) {
    let resource = random.below(plan.resources.count)
    let amount: UInt64 =
      switch resource {
      case 0, 2: UInt64(1 + random.below(6))
      case 1: 1 << UInt64(27 + random.below(5))
      default: UInt64(random.below(4))
      }
    if resource == plan.gpuResource { return }
    try setCapacity(amount, of: resource)
    isLowered = isLowered || resource > 2
  }

  /// Tasks may be waiting for a reduced capacity.
  mutating func restoreCapacities() throws(Finding) {
    isLowered = false
    for resource in 3..<plan.resources.count where resource != plan.gpuResource {
      try setCapacity(plan.resources[resource].capacity, of: resource)
    }
  }

  private mutating func setCapacity(_ amount: UInt64, of resource: Int) throws(Finding) {
    oracle.stock.set(resource, to: amount)
    try tell(.capacity(resource: resource, amount))
  }

  mutating func changePriorities() throws(Finding) {
    if plan.taskCount == 0 { return }
    let given = (0...random.below(3)).map { _ in
      TaskPriority(
        task: TaskID(random.below(plan.taskCount)), priority: Int16(random.below(5)) - 2)
    }
    oracle.prioritise(given)
    try tell(.prioritise(given))
  }
}
