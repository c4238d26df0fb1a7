import OpflowEngine
import OpflowPlan

/// The resources that tasks use, counted by an observer of processes and nodes, independently of
/// the engine's accounts.
///
/// When a capacity changes, running tasks may hold shares of the old one: each counts as the least
/// that it can hold, against the largest capacity so far.
struct Stock {
  private struct Use {
    var node: Int
    var resource: Int
    var amount: UInt64
  }

  var plan: Plan
  /// By node, then by resource: the largest capacity so far.
  private var capacity: [[UInt64]]
  private var used: [[UInt64]]
  /// By resource of the coordinator's host: the smallest capacity so far.
  private var least: [UInt64]
  private var uses: [TaskID: [Use]] = [:]
  private var lent: [TaskID: Int32] = [:]
  /// The index of `gpu`; `devices` has the GPUs that workers were told of.
  private let gpu: Int?
  private var devices: [TaskID: DeviceSet] = [:]
  /// By node: for each GPU, its number on the coordinator's host, if it has one there.
  private var devicesHere: [[Int?]] = [[]]

  init(plan: Plan, options: SchedulerOptions) {
    self.plan = plan
    var own = plan.resources.map(\.capacity)
    own[0] = options.maxParallel
    if own[1] == 0 { own[1] = options.memoryBytes }
    if own[2] == 0 { own[2] = 4 }
    gpu = plan.gpuResource
    if let gpu { own[gpu] = options.gpus * 1000 }
    capacity = [own]
    used = [own.map { _ in 0 }]
    least = own
  }

  mutating func join(cpu: UInt64, memory: UInt64, gpus: UInt64, here: [Int?]) {
    devicesHere.append(here)
    var own = plan.resources.map { _ in UInt64(0) }
    (own[0], own[1]) = (cpu, memory)
    if let gpu { own[gpu] = gpus * 1000 }
    capacity.append(own)
    used.append(own.map { _ in 0 })
  }

  mutating func set(_ resource: Int, to amount: UInt64) {
    capacity[0][resource] = max(capacity[0][resource], amount)
    // Demands of named resources are never limited.
    if resource < 3 { least[resource] = min(least[resource], amount) }
  }

  /// Records the GPUs that a worker was told of before a task's start.
  mutating func give(_ devices: DeviceSet, to task: TaskID) { self.devices[task] = devices }

  private func checkDevices(of task: TaskID, at node: NodeID) throws(Finding) {
    let count = plan.gpuCount(of: task)
    if count == 0 { return }
    guard let own = devices[task], own.count == count else {
      throw Finding("\(plan.nameString(task)): it starts, and was not told of its \(count) GPUs")
    }
    guard let gpu, own.numbers.allSatisfy({ UInt64($0) * 1000 < capacity[node.index][gpu] }) else {
      throw Finding("\(plan.nameString(task)): it has a GPU that its machine has not")
    }
    let ownNames = names(of: own, at: node.index)
    for (other, uses) in uses where plan.gpuCount(of: other) > 0 {
      guard let place = uses.first(where: { $0.resource == gpu })?.node,
        let others = devices[other]
      else { continue }
      if !ownNames.isDisjoint(with: names(of: others, at: place)) {
        throw Finding("\(plan.nameString(task)): it has a GPU of \(plan.nameString(other))")
      }
    }
  }

  /// Returns the identities of GPUs, independent of the node that reports them.
  private func names(of devices: DeviceSet, at node: Int) -> Set<String> {
    Set(
      devices.numbers.map { number in
        let here =
          node == 0 ? number : number < devicesHere[node].count ? devicesHere[node][number] : nil
        return here.map { "here \($0)" } ?? "\(node) \(number)"
      })
  }

  mutating func take(_ task: TaskID, at node: NodeID) throws(Finding) {
    try checkDevices(of: task, at: node)
    var own: [Use] = []
    let isTogether = plan.isService(task) || !plan.services(neededBy: task).isEmpty
    for item in plan.demandList(plan.demand[task.index]) {
      let resource = Int(item.resource)
      // Task groups that want too much of a built-in resource get the rest of it.
      if isTogether, resource < 3 { continue }
      let place = resource < 2 || resource == gpu ? node.index : 0
      let whole = place == 0 ? least[resource] : capacity[place][resource]
      let use = Use(node: place, resource: resource, amount: min(item.amount, whole))
      used[place][resource] += use.amount
      if used[place][resource] > capacity[place][resource] {
        throw Finding(
          """
          \(plan.nameString(task)): resource \(resource) of site \(place) is used beyond its \
          capacity
          """
        )
      }
      own.append(use)
    }
    uses[task] = own
  }

  /// Lends tokens to a task's jobserver, or takes them back.
  mutating func lend(_ change: Int32, to task: TaskID) throws(Finding) {
    guard let own = uses[task] else {
      throw Finding("\(plan.nameString(task)): it is lent something while it holds nothing")
    }
    // The shares of tasks with services are not visible from outside.
    guard let node = own.first(where: { $0.resource == 0 })?.node else { return }
    let before = lent[task] ?? 0
    lent[task] = before + change
    used[node][0] = UInt64(Int64(used[node][0]) + Int64(change))
    if change > 0, used[node][0] > capacity[node][0] {
      throw Finding("\(plan.nameString(task)): it was lent more than there is")
    }
  }

  /// Returns the number of a task's own tokens; nil if it is not visible from outside.
  func ownTokens(of task: TaskID) -> Int32? {
    guard plan.services(neededBy: task).isEmpty, least[0] == capacity[0][0],
      let use = uses[task]?.first(where: { $0.resource == 0 }), use.node == 0
    else { return nil }
    return Int32(use.amount) - 1
  }

  mutating func give(_ task: TaskID) {
    if let lent = lent.removeValue(forKey: task), lent != 0,
      let node = uses[task]?.first(where: { $0.resource == 0 })?.node
    {
      used[node][0] -= UInt64(lent)
    }
    for use in uses.removeValue(forKey: task) ?? [] { used[use.node][use.resource] -= use.amount }
  }
}
