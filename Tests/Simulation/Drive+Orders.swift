import OpflowCore

/// A machine beyond the coordinator's.
struct ImaginedSite {
  var cpu: UInt64
  var memory: UInt64
  var isThere = true
}

/// Machines that come and go, capacities and priorities that change.
extension Drive {
  /// Whether a task can find a machine that is none of the coordinator's.
  var hasSite: Bool { sites.contains(where: \.isThere) }

  mutating func joinSite() throws(Finding) {
    guard options.usesSites, !engine.isClosing else { return }
    let tells = random.chance(70)
    // A worker says nothing of memory.
    let site = ImaginedSite(
      cpu: UInt64(1 + random.below(4)), memory: tells ? 1 << UInt64(28 + random.below(3)) : .max)
    sites.append(site)
    witness.stock.join(cpu: site.cpu, memory: site.memory)
    let offer = SiteOffer(cpu: site.cpu, memoryBytes: site.memory)
    try tell(.siteJoined(SiteID(Int32(sites.count)), tells ? offer : nil))
  }

  /// All that is there is gone in one stroke.
  mutating func loseSite(_ site: SiteID) throws(Finding) {
    sites[site.index - 1].isThere = false
    for index in workers.indices where workers[index].site == site {
      failedLaunches.removeAll { $0 == workers[index].id }
      witness.endAll(on: workers[index].id)
      witness.forgetLaunch(of: workers[index].id)
      workers[index].forgetTasks()
      workers[index].phase = .gone
      lostWorkers += 1
    }
    try tell(.siteLost(site, complaint: "its machine is gone"))
  }

  /// What a worker's hello brings.
  func offer(of worker: ImaginedWorker) -> WorkerOffer {
    let cores = worker.site == .local ? 1 : Int(sites[worker.site.index - 1].cpu)
    return WorkerOffer(cores: cores, actions: .all)
  }

  mutating func changeSites() throws(Finding) {
    let there = sites.indices.filter { sites[$0].isThere }
    if there.isEmpty || random.chance(50) { return try joinSite() }
    try loseSite(SiteID(Int32(there[random.below(there.count)] + 1)))
  }

  mutating func changeCapacity() throws(Finding) {
    let resource = random.below(plan.resources.count)
    let amount: UInt64 =
      switch resource {
      case 0, 2: UInt64(1 + random.below(6))
      case 1: 1 << UInt64(27 + random.below(5))
      default: UInt64(random.below(4))
      }
    try setCapacity(amount, of: resource)
    isLowered = isLowered || resource > 2
  }

  /// Tasks may wait for what there is no more of.
  mutating func restoreCapacities() throws(Finding) {
    isLowered = false
    for resource in 3..<plan.resources.count {
      try setCapacity(plan.resources[resource].capacity, of: resource)
    }
  }

  private mutating func setCapacity(_ amount: UInt64, of resource: Int) throws(Finding) {
    witness.stock.set(resource, to: amount)
    try tell(.capacity(resource: resource, amount))
  }

  mutating func changePriorities() throws(Finding) {
    let given = (0...random.below(3)).map { _ in
      TaskPriority(
        task: TaskID(random.below(plan.taskCount)), priority: Int16(random.below(5)) - 2)
    }
    witness.prioritise(given)
    try tell(.prioritise(given))
  }
}
