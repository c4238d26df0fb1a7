import OpflowEngine
import OpflowPlan

/// What tasks use of what there is, as somebody counts it who sees processes and machines and knows
/// nothing of the engine's own accounts.
///
/// Where a capacity changes while tasks run, they may hold what was cut to the earlier one: they
/// count as little as they can hold, against the most there ever was.
struct Stock {
  private struct Use {
    var node: Int
    var resource: Int
    var amount: UInt64
  }

  var plan: Plan
  /// By site, then by resource: the most there ever was.
  private var capacity: [[UInt64]]
  private var used: [[UInt64]]
  /// Of this machine and the run: the least there ever was.
  private var least: [UInt64]
  private var uses: [TaskID: [Use]] = [:]
  private var lent: [TaskID: Int32] = [:]
  /// The number of `gpu`, and by task those that its worker was told of.
  private let gpu: Int?
  private var devices: [TaskID: DeviceSet] = [:]
  /// By site: of each GPU, which of the coordinator's machine it is.
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
    // Of what the manifest names nothing is ever cut.
    if resource < 3 { least[resource] = min(least[resource], amount) }
  }

  /// A worker is told which GPUs a task has, before its start.
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

  /// Which GPUs these are, whichever site tells of them.
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
      // Of what is built in they take what is left, where they want more together than there is.
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

  /// A task's jobserver has so many tokens more that are lent, or fewer.
  mutating func lend(_ change: Int32, to task: TaskID) throws(Finding) {
    guard let own = uses[task] else {
      throw Finding("\(plan.nameString(task)): it is lent something while it holds nothing")
    }
    // What it holds with its services is not known from outside.
    guard let node = own.first(where: { $0.resource == 0 })?.node else { return }
    let before = lent[task] ?? 0
    lent[task] = before + change
    used[node][0] = UInt64(Int64(used[node][0]) + Int64(change))
    if change > 0, used[node][0] > capacity[node][0] {
      throw Finding("\(plan.nameString(task)): it was lent more than there is")
    }
  }

  /// How many tokens are a task's own; nil where that is not known from outside.
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
