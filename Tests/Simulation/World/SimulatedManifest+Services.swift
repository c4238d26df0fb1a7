import OpflowBase
import OpflowPlan

extension SimulatedManifest {
  /// Turns some tasks into services.
  ///
  /// - Parameter isFar: they may run on nodes, so tasks bound to the coordinator's host do not need
  /// them.
  mutating func addServices(_ random: inout SplitMix64, isFar: Bool) {
    for index in tasks.indices where random.chance(30) {
      let task = tasks[index]
      if task.isDownload || task.isApproval || task.flags.contains(.finally) { continue }
      if isFar, task.isLocal { continue }
      tasks[index].becomeService(&random)
    }
    // Without dependents, it stays up until it is stopped.
    if random.chance(50) {
      var task = Task(name: "stays")
      task.becomeService(&random)
      task.service = random.chance(80) ? .serves : .endsInUse(attempt: 2, code: 1)
      for other in tasks
      where random.chance(20) && !other.flags.contains(.finally) && !other.isApproval {
        task.needs.append((other.name, .success))
      }
      tasks.append(task)
    }
    let services = Set(tasks.filter { $0.service != nil }.map(\.name))
    for index in tasks.indices {
      for place in tasks[index].needs.indices
      where services.contains(tasks[index].needs[place].task) {
        tasks[index].needs[place].condition = .success
      }
      // An approval runs no process, so it needs no service.
      if tasks[index].isApproval { tasks[index].needs.removeAll { services.contains($0.task) } }
      if tasks[index].reads.map(services.contains) ?? false { tasks[index].reads = nil }
      if tasks[index].decidedBy.map(services.contains) ?? false { tasks[index].decidedBy = nil }
    }
    if isFar { spreadServices(services) }
    fitServices()
  }

  /// Adds a service that runs on nodes, unless there is one.
  mutating func addFarService(_ random: inout SplitMix64) {
    let services = Set(tasks.filter { $0.service != nil }.map(\.name))
    let isNeeded = tasks.contains { task in
      task.service == nil && task.needs.contains { services.contains($0.task) }
    }
    if isNeeded { return }
    let users = tasks.indices.filter { index in
      let task = tasks[index]
      return task.service == nil && !task.isDownload && !task.isApproval && !task.isLocal
        && !task.flags.contains(.finally)
    }
    var service = Task(name: "db")
    service.becomeService(&random)
    if let user = users.randomElement(using: &random) {
      tasks[user].needs.append((service.name, .success))
    } else {
      var user = Task(name: "user")
      user.needs = [(service.name, .success)]
      tasks.append(user)
    }
    tasks.append(service)
    fitServices()
  }

  private mutating func spreadServices(_ services: Set<String>) {
    for index in tasks.indices {
      tasks[index].flags.remove(.interactive)
      let task = tasks[index]
      if task.isLocal || task.isDownload || task.flags.contains(.finally) || task.name == "stays" {
        tasks[index].needs.removeAll { services.contains($0.task) }
      }
    }
  }

  /// Lets tasks started together fit into capacities; the manifest reader ensures this, too.
  private mutating func fitServices() {
    for index in tasks.indices {
      let group = servicesNeeded(by: index)
      for (resource, capacity) in zip(3..., resources.map(\.capacity)) {
        let sum = (group + [index]).reduce(UInt64(0)) { sum, member in
          sum
            + tasks[member].demand.filter { Int($0.resource) == resource }
            .reduce(0) { $0 + $1.amount }
        }
        if sum > capacity { for service in group { tasks[service].demand = [] } }
      }
    }
  }

  /// Returns all of them, each once.
  private func servicesNeeded(by index: Int) -> [Int] {
    var found: [Int] = []
    var open = [index]
    while let next = open.popLast() {
      for need in tasks[next].needs {
        guard let place = tasks.firstIndex(where: { $0.name == need.task }),
          tasks[place].service != nil, !found.contains(place)
        else { continue }
        found.append(place)
        open.append(place)
      }
    }
    return found
  }
}

extension SimulatedManifest.Task {
  fileprivate mutating func becomeService(_ random: inout SplitMix64) {
    flags.subtract([.allowAnyFailure, .failWhenInterrupted, .interactive])
    isChecked = false
    leaves = .nothing
    allowedCodes = []
    retryCodes = []
    policy.retryMax = 0
    policy.timeoutMilliseconds = 0
    ports = random.below(3)
    restarts = random.chance(40) ? 1 + random.below(2) : 0
    switch random.below(10) {
    case 0: service = .neverReady
    case 1: service = .endsBeforeReady(Int32(random.below(2)))
    case 2, 3:
      service = .endsInUse(attempt: Int32(1 + random.below(3)), code: Int32(random.below(2)))
    default: service = .serves
    }
    switch random.below(4) {
    case 0: demand = [DemandItem(resource: 3, amount: 1)]
    case 1: demand = [DemandItem(resource: ResourceEntry.cpu, amount: UInt64(1 + random.below(2)))]
    default: demand = []
    }
  }
}
