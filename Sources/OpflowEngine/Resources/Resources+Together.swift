internal import OpflowPlan

extension Resources {
  struct HeldBack {
    var site: SiteID
    var resource: Int
    var amount: UInt64
  }

  struct Binding: Equatable {
    /// The node of the newest share.
    var site = SiteID.local
    var shares = 0
  }

  struct JointWant {
    var processors: UInt64 = 0
    var memoryBytes: UInt64 = 0
    var devices: UInt64 = 0

    mutating func cover(_ other: JointWant) {
      processors = max(processors, other.processors)
      memoryBytes = max(memoryBytes, other.memoryBytes)
      devices = max(devices, other.devices)
    }
  }

  // MARK: - Placement

  /// Nil if the group holds no share.
  func binding(of lane: Int) -> SiteID? {
    guard let group = serviceLanes.group(of: lane), bindings[group].shares > 0 else { return nil }
    return bindings[group].site
  }

  mutating func bind(_ lane: Int, to site: SiteID) {
    guard let group = serviceLanes.group(of: lane) else { return }
    bindings[group].site = site
    bindings[group].shares += 1
  }

  mutating func unbind(_ lane: Int) {
    guard let group = serviceLanes.group(of: lane) else { return }
    bindings[group].shares -= 1
  }

  mutating func joinWants() {
    if bindings.isEmpty { return }
    let lanes = serviceLanes.numbers
    jointWants = lanes.map { jointWant($0) }
    groupWants = bindings.map { _ in JointWant() }
    for (lane, want) in zip(lanes, jointWants) {
      guard let group = serviceLanes.group(of: lane) else { continue }
      groupWants[group].cover(want)
    }
  }

  private func jointWant(_ lane: Int) -> JointWant {
    var want = JointWant()
    for lane in serviceLanes.lanesTogether(lane) {
      let grant = grants.current(lane)
      want.processors &+= grants.amount(of: Self.processor, in: grant)
      want.memoryBytes &+= min(grants.amount(of: Self.memory, in: grant), .max >> 16)
      if gpu >= 0 { want.devices &+= grants.amount(of: gpu, in: grant) }
    }
    if let whole { want.processors = min(want.processors, whole.capacity[Self.processor]) }
    return want
  }

  /// Zero for classes without services.
  private func jointWants(of lane: Int) -> JointWant {
    serviceLanes.place(of: lane).map { jointWants[$0] } ?? JointWant()
  }

  private static let memory = Int(ResourceEntry.memory)

  /// Whether a node has the GPUs for a task and its services; GPU demands are never limited.
  func hasDevices(for lane: Int, at site: SiteID) -> Bool {
    let capacity = pools[site.index].capacity
    return capacity[Self.processor] > 0
      && (gpu < 0 || jointWants(of: lane).devices <= capacity[gpu])
  }

  func isWhole(_ lane: Int, at site: SiteID) -> Bool {
    isWithin(jointWants(of: lane), site)
  }

  func isWholeForGroup(of lane: Int, at site: SiteID) -> Bool {
    serviceLanes.group(of: lane).map { isWithin(groupWants[$0], site) } ?? false
  }

  private func isWithin(_ want: JointWant, _ site: SiteID) -> Bool {
    let capacity = pools[site.index].capacity
    return want.processors <= capacity[Self.processor]
      && want.memoryBytes <= capacity[Self.memory] && (gpu < 0 || want.devices <= capacity[gpu])
  }

  func largest(of sites: [SiteID]) -> [SiteID] {
    func size(_ site: SiteID) -> (UInt64, UInt64) {
      let capacity = pools[site.index].capacity
      return (capacity[Self.processor], capacity[Self.memory])
    }
    guard let most = sites.map({ size($0) }).max(by: { $0 < $1 }) else { return [] }
    return sites.filter { size($0) == most }
  }

  // MARK: - Amounts

  /// What tasks take that start together where their services hold `held`; limited to the
  /// capacities, or they would never start.
  func together(_ lanes: [Int], with held: [Share], at site: SiteID) -> [[DemandItem]] {
    var left = plan.resources.indices.map { resource in
      held.reduce(mostTogether(of: resource, at: site)) { left, share in
        left - min(left, grants.amount(of: resource, in: share.grant))
      }
    }
    return lanes.map { lane in
      grants.items[grants.range(grants.current(lane))].map { item in
        if Int(item.resource) == gpu { return item }
        var item = item
        item.amount = min(item.amount, left[Int(item.resource)])
        left[Int(item.resource)] -= item.amount
        return item
      }
    }
  }

  /// Validation rejects larger joint demands of named resources.
  private func mostTogether(of resource: Int, at site: SiteID) -> UInt64 {
    guard Self.isBuiltIn(resource) else { return plan.resources[resource].capacity }
    let capacity = pools[poolIndex(of: resource, at: site)].capacity[resource]
    guard resource == Self.processor, let whole else { return capacity }
    return min(capacity, whole.capacity[resource])
  }

  func fit(_ amounts: [[DemandItem]], at site: SiteID) -> Bool {
    if !wholeHas(amounts.sum(of: Self.processor)) { return false }
    return plan.resources.indices.allSatisfy { resource in
      let sum = amounts.sum(of: resource)
      let pool = poolIndex(of: resource, at: site)
      return sum == 0
        || pools[pool].has(sum, of: resource, beside: heldBack(of: resource, in: pool))
    }
  }

  func wantedOfFree(_ lane: Int) -> [DemandItem] {
    wanted(lane).map { item in
      var item = item
      item.amount = min(item.amount, pools[0].free(Int(item.resource)))
      return item
    }
  }

  func wanted(_ lane: Int) -> [DemandItem] {
    Array(grants.items[grants.range(grants.current(lane))])
  }

  mutating func take(_ amounts: [DemandItem], of lane: Int, at site: SiteID) -> Share {
    if grants.items[grants.range(grants.current(lane))].elementsEqual(amounts) {
      return take(lane, at: site)
    }
    return takeHeld(grants.holdCut(amounts, of: lane), of: lane, at: site)
  }

  // MARK: - Reserving

  mutating func reserve(_ amounts: [[DemandItem]], at site: SiteID) {
    guard (site == .local ? reservedHere : reservedElsewhere) == nil,
      !isReservedTogether(isLocal: site == .local)
    else { return }
    let sums = plan.resources.indices.map { amounts.sum(of: $0) }
    let isWithin = sums.enumerated().allSatisfy { resource, sum in
      sum <= pools[poolIndex(of: resource, at: site)].capacity[resource]
    }
    guard isWithin else { return }
    for (resource, sum) in sums.enumerated() where sum > 0 {
      reservedTogether.append(HeldBack(site: site, resource: resource, amount: sum))
    }
  }

  func isReservedTogether(isLocal: Bool) -> Bool {
    reservedTogether.contains { ($0.site == .local) == isLocal }
  }

  func heldBackTogether(of resource: Int, in pool: Int) -> UInt64 {
    if reservedTogether.isEmpty { return 0 }
    return reservedTogether.reduce(0) { sum, entry in
      entry.resource == resource && isHeld(resource, at: entry.site, in: pool)
        ? sum &+ entry.amount : sum
    }
  }

  // MARK: - Making room

  func helps(_ share: Share, _ amounts: [[DemandItem]], at site: SiteID) -> Bool {
    if let whole, processors(in: share.grant) > 0,
      amounts.sum(of: Self.processor) > whole.free(Self.processor)
    {
      return true
    }
    return plan.resources.indices.contains { resource in
      let pool = poolIndex(of: resource, at: site)
      return isHeld(resource, at: share.site, in: pool)
        && amounts.sum(of: resource) > pools[pool].free(resource)
        && grants.amount(of: resource, in: share.grant) > 0
    }
  }
}
