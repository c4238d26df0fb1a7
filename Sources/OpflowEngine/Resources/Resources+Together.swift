internal import OpflowPlan

extension Resources {
  struct HeldBack {
    var node: NodeID
    var resource: Int
    var amount: UInt64
  }

  struct Binding: Equatable {
    var node = NodeID.local
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

  func binding(of demandClass: Int) -> NodeID? {
    guard let group = serviceClasses.group(of: demandClass), bindings[group].shares > 0 else {
      return nil
    }
    return bindings[group].node
  }

  mutating func bind(_ demandClass: Int, to node: NodeID) {
    guard let group = serviceClasses.group(of: demandClass) else { return }
    bindings[group].node = node
    bindings[group].shares += 1
  }

  mutating func unbind(_ demandClass: Int) {
    guard let group = serviceClasses.group(of: demandClass) else { return }
    bindings[group].shares -= 1
  }

  mutating func joinWants() {
    if bindings.isEmpty { return }
    let demandClasses = serviceClasses.numbers
    jointWants = demandClasses.map { jointWant($0) }
    groupWants = bindings.map { _ in JointWant() }
    for (demandClass, want) in zip(demandClasses, jointWants) {
      guard let group = serviceClasses.group(of: demandClass) else { continue }
      groupWants[group].cover(want)
    }
  }

  private func jointWant(_ demandClass: Int) -> JointWant {
    var want = JointWant()
    for demandClass in serviceClasses.classesTogether(demandClass) {
      let grant = grants.current(demandClass)
      want.processors &+= grants.amount(of: Self.processor, in: grant)
      want.memoryBytes &+= min(grants.amount(of: Self.memory, in: grant), .max >> 16)
      if gpu >= 0 { want.devices &+= grants.amount(of: gpu, in: grant) }
    }
    if let whole { want.processors = min(want.processors, whole.capacity[Self.processor]) }
    return want
  }

  /// Zero for classes without services.
  private func jointWants(of demandClass: Int) -> JointWant {
    serviceClasses.place(of: demandClass).map { jointWants[$0] } ?? JointWant()
  }

  private static let memory = Int(ResourceEntry.memory)

  /// GPU demands are never limited.
  func hasDevices(for demandClass: Int, at node: NodeID) -> Bool {
    let capacity = pools[node.index].capacity
    return capacity[Self.processor] > 0
      && (gpu < 0 || jointWants(of: demandClass).devices <= capacity[gpu])
  }

  func isWhole(_ demandClass: Int, at node: NodeID) -> Bool {
    isWithin(jointWants(of: demandClass), node)
  }

  func isWholeForGroup(of demandClass: Int, at node: NodeID) -> Bool {
    serviceClasses.group(of: demandClass).map { isWithin(groupWants[$0], node) } ?? false
  }

  private func isWithin(_ want: JointWant, _ node: NodeID) -> Bool {
    let capacity = pools[node.index].capacity
    return want.processors <= capacity[Self.processor]
      && want.memoryBytes <= capacity[Self.memory] && (gpu < 0 || want.devices <= capacity[gpu])
  }

  func largest(of nodes: [NodeID]) -> [NodeID] {
    func size(_ node: NodeID) -> (UInt64, UInt64) {
      let capacity = pools[node.index].capacity
      return (capacity[Self.processor], capacity[Self.memory])
    }
    guard let most = nodes.map({ size($0) }).max(by: { $0 < $1 }) else { return [] }
    return nodes.filter { size($0) == most }
  }

  // MARK: - Amounts

  /// Amounts for tasks that start together while their services hold `held`; limited to the
  /// capacities, or they would never start.
  func together(_ demandClasses: [Int], with held: [Share], at node: NodeID) -> [[DemandItem]] {
    var left = plan.resources.indices.map { resource in
      held.reduce(mostTogether(of: resource, at: node)) { left, share in
        left - min(left, grants.amount(of: resource, in: share.grant))
      }
    }
    return demandClasses.map { demandClass in
      grants.items[grants.range(grants.current(demandClass))].map { item in
        if Int(item.resource) == gpu { return item }
        var item = item
        item.amount = min(item.amount, left[Int(item.resource)])
        left[Int(item.resource)] -= item.amount
        return item
      }
    }
  }

  /// Validation rejects larger joint demands of named resources.
  private func mostTogether(of resource: Int, at node: NodeID) -> UInt64 {
    guard Self.isBuiltIn(resource) else { return plan.resources[resource].capacity }
    let capacity = pools[poolIndex(of: resource, at: node)].capacity[resource]
    guard resource == Self.processor, let whole else { return capacity }
    return min(capacity, whole.capacity[resource])
  }

  func fit(_ amounts: [[DemandItem]], at node: NodeID) -> Bool {
    if !wholeHas(amounts.sum(of: Self.processor)) { return false }
    return plan.resources.indices.allSatisfy { resource in
      let sum = amounts.sum(of: resource)
      let pool = poolIndex(of: resource, at: node)
      return sum == 0
        || pools[pool].has(sum, of: resource, beside: heldBack(of: resource, in: pool))
    }
  }

  func wantedOfFree(_ demandClass: Int) -> [DemandItem] {
    wanted(demandClass).map { item in
      var item = item
      item.amount = min(item.amount, pools[0].free(Int(item.resource)))
      return item
    }
  }

  func wanted(_ demandClass: Int) -> [DemandItem] {
    Array(grants.items[grants.range(grants.current(demandClass))])
  }

  mutating func take(_ amounts: [DemandItem], of demandClass: Int, at node: NodeID) -> Share {
    if grants.items[grants.range(grants.current(demandClass))].elementsEqual(amounts) {
      return take(demandClass, at: node)
    }
    return takeHeld(grants.holdCut(amounts, of: demandClass), of: demandClass, at: node)
  }

  // MARK: - Reserving

  mutating func reserve(_ amounts: [[DemandItem]], at node: NodeID) {
    guard (node == .local ? reservedHere : reservedElsewhere) == nil,
      !isReservedTogether(isLocal: node == .local)
    else { return }
    let sums = plan.resources.indices.map { amounts.sum(of: $0) }
    let isWithin = sums.enumerated().allSatisfy { resource, sum in
      sum <= pools[poolIndex(of: resource, at: node)].capacity[resource]
    }
    guard isWithin else { return }
    for (resource, sum) in sums.enumerated() where sum > 0 {
      reservedTogether.append(HeldBack(node: node, resource: resource, amount: sum))
    }
  }

  func isReservedTogether(isLocal: Bool) -> Bool {
    reservedTogether.contains { ($0.node == .local) == isLocal }
  }

  func heldBackTogether(of resource: Int, in pool: Int) -> UInt64 {
    if reservedTogether.isEmpty { return 0 }
    return reservedTogether.reduce(0) { sum, entry in
      entry.resource == resource && isHeld(resource, at: entry.node, in: pool)
        ? sum &+ entry.amount : sum
    }
  }

  // MARK: - Making room

  func helps(_ share: Share, _ amounts: [[DemandItem]], at node: NodeID) -> Bool {
    if let whole, processors(in: share.grant) > 0,
      amounts.sum(of: Self.processor) > whole.free(Self.processor)
    {
      return true
    }
    return plan.resources.indices.contains { resource in
      let pool = poolIndex(of: resource, at: node)
      return isHeld(resource, at: share.node, in: pool)
        && amounts.sum(of: resource) > pools[pool].free(resource)
        && grants.amount(of: resource, in: share.grant) > 0
    }
  }
}
