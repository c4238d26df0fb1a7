internal import OpflowPlan

/// Held while a worker has the task.
struct Share: Equatable {
  var node: NodeID
  /// GPUs by the node's numbers.
  var devices = DeviceSet()
  var grant: Int32
  /// Additional `cpu`, lent to the task's jobserver.
  var lent: Int32 = 0
}

/// The resources that tasks share: `cpu`, `memory` and `gpu` of each node, and everything else of
/// the run.
///
/// Tasks with equal demands that may run on the same nodes form a *demand class*. Tasks with the
/// terminal have separate classes: they may wait for it after their resources are free. Demands are
/// limited to the capacities.
package struct Resources {
  private(set) var plan: Plan
  /// The number of `gpu` if counted per node, else -1.
  let gpu: Int
  var devicesTaken: [DeviceSet] = [DeviceSet()]
  var commonDevices = CommonDevices()
  private let usesNodes: Bool
  /// Bound to the local node.
  private var local: TaskSet?
  /// By node; the local one also has the run's resources.
  var pools: Table<Pool>
  /// Nodes where something may still fit.
  private var roomy = NodeSet()
  /// Limits the `cpu` held on all nodes together.
  var whole: Pool?
  var hasShrunk = false
  /// Offers of remote nodes, each once.
  private var shapes: [NodeOffer] = []

  var grants = Grants()
  private(set) var demandClasses = DemandClasses()
  private(set) var serviceClasses = ServiceClasses()
  /// With less than the smallest demand, nothing more fits.
  private var leastHere: [UInt64] = []
  private var leastElsewhere: [UInt64] = []

  /// Shares reserved for the first ready tasks that do not fit.
  private(set) var reservedHere: Share?
  private(set) var reservedElsewhere: Share?
  /// Amounts reserved for a task with its services.
  var reservedTogether: [HeldBack] = []
  /// By service group.
  var bindings: [Binding] = []
  /// Joint demands by class with services, and the maximum by group.
  var jointWants: [JointWant] = []
  var groupWants: [JointWant] = []

  init(plan: Plan, options: SchedulerOptions, groups: ServiceGroups? = nil) {
    self.plan = plan
    gpu = plan.gpuResource ?? -1
    usesNodes = options.usesNodes
    pools = Table([Pool(capacity: options.capacities(of: plan))])
    pools[0].setAway(options.processorsAway)
    whole = options.wholeParallel.map { Pool(capacity: [$0]) }
    addClasses(from: 0, groups)
    cutAll()
  }

  mutating func grow(to plan: Plan, groups: ServiceGroups?) {
    let (first, before) = (self.plan.taskCount, demandClasses.all.count { $0.isUsed })
    self.plan = plan
    addClasses(from: first, groups)
    if demandClasses.all.count(where: { $0.isUsed }) != before { cutAll() }
  }

  // MARK: - Demand classes

  var classCount: Int { grants.classCount }

  private mutating func addClasses(from first: Int, _ groups: ServiceGroups?) {
    if usesNodes { noteLocal(from: first) }
    demandClasses.cover(plan, usesNodes: usesNodes)
    serviceClasses.add(tasksOf: plan, from: first, groups: groups, to: &demandClasses)
    for index in first..<plan.taskCount {
      let task = TaskID(index)
      // Demand 0, the empty one, exists even without tasks.
      if plan.kind(task) == .approve { continue }
      let demandClass = demandClass(of: task)
      if !demandClasses[demandClass].isUsed { demandClasses.use(demandClass) }
    }
    for demandClass in grants.classCount..<demandClasses.count {
      grants.addClass(wanted(in: demandClass))
    }
    while bindings.count < serviceClasses.groupCount { bindings.append(Binding()) }
  }

  @inline(__always)
  func demandClass(of task: TaskID) -> Int {
    if let demandClass = serviceClasses.demandClass(of: task) { return demandClass }
    let demand = Int(plan.demand[task.index])
    if plan.hasInteractive, plan.flags(task).contains(.interactive) {
      return demandClasses.terminalClass(of: demand)
    }
    if plan.hasExternalTasks, plan.kind(task) == .block {
      return demandClasses.externalClass(of: demand)
    }
    return demandClasses.demandClass(
      of: demand, isLocal: !usesNodes || local?.contains(task) == true)
  }

  /// One bit per task saves reading its record later.
  private mutating func noteLocal(from first: Int) {
    local?.grow(to: plan.taskCount)
    for index in first..<plan.taskCount where plan.staysOnCoordinator(TaskID(index)) {
      if local == nil { local = TaskSet(taskCount: plan.taskCount) }
      local?.insert(TaskID(index))
    }
  }

  @inline(__always)
  func isLocal(_ demandClass: Int) -> Bool { demandClasses[demandClass].isLocal }

  // MARK: - Taking

  @inline(__always)
  func fits(_ demandClass: Int, at node: NodeID) -> Bool {
    if whole != nil, !wholeHas(processors(in: grants.current(demandClass))) { return false }
    for place in grants.range(grants.current(demandClass)) {
      let item = grants.items[place]
      let resource = Int(item.resource)
      let pool = poolIndex(of: resource, at: node)
      let heldBack = heldBack(of: resource, in: pool)
      if !pools[pool].has(item.amount, of: resource, beside: heldBack) { return false }
    }
    return true
  }

  @inline(__always)
  func heldBack(of resource: Int, in pool: Int) -> UInt64 {
    heldBack(of: resource, in: pool, for: reservedHere)
      &+ heldBack(of: resource, in: pool, for: reservedElsewhere)
      &+ heldBackTogether(of: resource, in: pool)
  }

  @inline(__always)
  private func heldBack(of resource: Int, in pool: Int, for reserved: Share?) -> UInt64 {
    guard let reserved, isHeld(resource, at: reserved.node, in: pool) else { return 0 }
    return grants.amount(of: resource, in: reserved.grant)
  }

  mutating func take(_ demandClass: Int, at node: NodeID) -> Share {
    let grant = grants.current(demandClass)
    grants.hold(grant)
    return takeHeld(grant, of: demandClass, at: node)
  }

  @inline(__always)
  mutating func takeHeld(_ grant: Int32, of demandClass: Int, at node: NodeID) -> Share {
    for place in grants.range(grant) {
      let item = grants.items[place]
      let resource = Int(item.resource)
      pools[poolIndex(of: resource, at: node)].take(item.amount, of: resource)
    }
    if whole != nil {
      let processors = processors(in: grant)
      whole?.take(processors, of: Self.processor)
    }
    if serviceClasses.groupCount > 0 { bind(demandClass, to: node) }
    look(at: node)
    var share = Share(node: node, grant: grant)
    if gpu >= 0 { share.devices = takeDevices(grants.amount(of: gpu, in: grant), at: node) }
    return share
  }

  mutating func give(_ share: Share) {
    for place in grants.range(share.grant) {
      let item = grants.items[place]
      let resource = Int(item.resource)
      pools[poolIndex(of: resource, at: share.node)].give(item.amount, of: resource)
    }
    if whole != nil {
      let processors = processors(in: share.grant)
      whole?.give(processors, of: Self.processor)
    }
    if serviceClasses.groupCount > 0 { unbind(grants.demandClass(of: share.grant)) }
    grants.release(share.grant)
    if !share.devices.isEmpty { giveDevices(share.devices, at: share.node) }
    if share.lent > 0 { takeBack(share.lent, at: share.node) }
    look(at: share.node)
  }

  // MARK: - Placement

  @inline(__always)
  var mayFitMore: Bool { mayFitMoreHere || usesNodes && !roomy.isEmpty && runMayFitMore }

  @inline(__always)
  private var mayFitMoreHere: Bool {
    for resource in leastHere.indices where pools[0].free(resource) < leastHere[resource] {
      return false
    }
    return true
  }

  private var runMayFitMore: Bool {
    for resource in leastElsewhere.indices
    where !isOfMachine(resource) && pools[0].free(resource) < leastElsewhere[resource] {
      return false
    }
    return true
  }

  var roomyNodes: [NodeID] { roomy.members }

  @inline(__always)
  func candidates(for demandClass: Int) -> [NodeID] {
    isLocal(demandClass) ? Self.here : roomy.members
  }

  static let here: [NodeID] = [.local]

  /// From 0 to 1.
  func load(of node: NodeID) -> Double {
    let pool = pools[node.index]
    let cpu = Int(ResourceEntry.cpu)
    return pool.capacity[cpu] == 0 ? 1 : Double(pool.held[cpu]) / Double(pool.capacity[cpu])
  }

  /// Reserves on the least loaded node, so that smaller tasks cannot starve the class.
  mutating func reserve(_ demandClass: Int, atOneOf nodes: [NodeID]) {
    guard (isLocal(demandClass) ? reservedHere : reservedElsewhere) == nil,
      !isReservedTogether(isLocal: isLocal(demandClass))
    else { return }
    var best: NodeID?
    var bestLoad = 2.0
    for node in nodes where isWithinCapacity(demandClass, at: node) {
      let load = load(of: node)
      if load < bestLoad { (best, bestLoad) = (node, load) }
    }
    let share = best.map { Share(node: $0, grant: grants.current(demandClass)) }
    if isLocal(demandClass) { reservedHere = share } else { reservedElsewhere = share }
  }

  @inline(__always)
  func isWithinCapacity(_ demandClass: Int, at node: NodeID) -> Bool {
    grants.items[grants.range(grants.current(demandClass))].allSatisfy { item in
      let resource = Int(item.resource)
      return item.amount <= pools[poolIndex(of: resource, at: node)].capacity[resource]
    }
  }

  mutating func clearReservations() {
    reservedHere = nil
    reservedElsewhere = nil
    if !reservedTogether.isEmpty { reservedTogether.removeAll() }
  }

  // MARK: - Capacities

  /// - Parameter devicesHere: Local numbers of GPUs that the local node also has.
  mutating func join(_ offer: NodeOffer, devicesHere: [Int?] = []) {
    precondition(usesNodes, "a run on this machine only has no other nodes")
    pools.append(Pool(capacity: Array(repeating: 0, count: plan.resources.count)))
    devicesTaken.append(DeviceSet())
    let node = NodeID(Int32(truncatingIfNeeded: pools.count - 1))
    if gpu >= 0 { noteCommon(devicesHere, of: node) }
    setOffer(offer, of: node)
  }

  mutating func setOffer(_ offer: NodeOffer, of node: NodeID) {
    precondition(node != .local, "this machine's capacities are set one by one")
    let before = NodeOffer(of: pools[node.index], gpu)
    if offer.cpu < before.cpu || offer.memoryBytes < before.memoryBytes || offer.gpus < before.gpus
    {
      hasShrunk = true
    }
    pools[node.index].setCapacity(offer.cpu, of: Int(ResourceEntry.cpu))
    pools[node.index].setCapacity(offer.memoryBytes, of: Int(ResourceEntry.memory))
    if gpu >= 0 {
      pools[node.index].setCapacity(min(offer.gpus, UInt64(DeviceSet.most)) * 1000, of: gpu)
    }
    shapes = []
    for pool in pools.all.dropFirst() { note(NodeOffer(of: pool, gpu)) }
    cutAll()
  }

  /// Shares come back as the node's workers are lost.
  mutating func leave(_ node: NodeID) { setOffer(NodeOffer(cpu: 0, memoryBytes: 0), of: node) }

  /// The capacity of the local node, or of the run.
  func capacity(of resource: Int) -> UInt64 { pools[0].capacity[resource] }

  mutating func setCapacity(_ amount: UInt64, of resource: Int) {
    if amount < pools[0].capacity[resource] { hasShrunk = true }
    pools[0].setCapacity(amount, of: resource)
    if resource == Self.processor { whole?.setCapacity(amount, of: resource) }
    cutAll()
  }

  private mutating func note(_ shape: NodeOffer) {
    if shape.cpu > 0, !shapes.contains(shape) { shapes.append(shape) }
  }

  @inline(__always)
  private func isOfMachine(_ resource: Int) -> Bool {
    ResourceEntry.isOfMachine(resource, gpu: gpu)
  }

  /// Demands are limited to the capacity.
  static func isBuiltIn(_ resource: Int) -> Bool { resource <= Int(ResourceEntry.download) }

  @inline(__always)
  func poolIndex(of resource: Int, at node: NodeID) -> Int {
    isOfMachine(resource) ? node.index : 0
  }

  // MARK: - Limiting demands

  private func wanted(in demandClass: Int) -> [DemandItem] {
    Array(plan.demandList(demandClasses[demandClass].demand))
  }

  /// A task that wants more runs alone.
  private mutating func cutAll() {
    for demandClass in demandClasses.all.indices where demandClasses[demandClass].isUsed {
      let wanted = wanted(in: demandClass)
      grants.cut(demandClass, to: isLocal(demandClass) ? cutHere(wanted) : cutElsewhere(wanted))
    }
    leastHere = least { isLocal($0) }
    if usesNodes { leastElsewhere = least { !isLocal($0) } }
    joinWants()
    for node in pools.indices { look(at: NodeID(Int32(truncatingIfNeeded: node))) }
  }

  /// Named resources are limited to the manifest's capacity: tasks wait while a request lowers it.
  private func cutHere(_ items: [DemandItem]) -> [DemandItem] {
    items.map { item in
      var item = item
      let resource = Int(item.resource)
      // A program that needs two GPUs cannot run with one.
      if resource == gpu { return item }
      let whole =
        Self.isBuiltIn(resource) ? pools[0].capacity[resource] : plan.resources[resource].capacity
      item.amount = min(item.amount, whole)
      return item
    }
  }

  /// Limits a remote demand that fits no node to the largest node with enough GPUs.
  private func cutElsewhere(_ items: [DemandItem]) -> [DemandItem] {
    let items = cutToWhole(items)
    func amount(of resource: UInt32) -> UInt64 {
      items.first { $0.resource == resource }?.amount ?? 0
    }
    let cpu = amount(of: ResourceEntry.cpu)
    let memory = amount(of: ResourceEntry.memory)
    let gpus = gpu < 0 ? 0 : items.amount(of: gpu) / 1000
    let shapes = gpus == 0 ? shapes : shapes.filter { $0.gpus >= gpus }
    if shapes.contains(where: { $0.cpu >= cpu && $0.memoryBytes >= memory }) { return items }
    guard let largest = shapes.max(by: { ($0.cpu, $0.memoryBytes) < ($1.cpu, $1.memoryBytes) })
    else { return items }
    return items.map { item in
      var item = item
      if item.resource == ResourceEntry.cpu { item.amount = min(item.amount, largest.cpu) }
      if item.resource == ResourceEntry.memory {
        item.amount = min(item.amount, largest.memoryBytes)
      }
      return item
    }
  }

  private func least(among belongs: (Int) -> Bool) -> [UInt64] {
    var least = [UInt64](repeating: .max, count: plan.resources.count)
    for demandClass in demandClasses.all.indices
    where demandClasses[demandClass].isUsed && belongs(demandClass) {
      let grant = grants.current(demandClass)
      for resource in least.indices {
        // With its services the class may be limited further.
        if serviceClasses.contains(demandClass), Self.isBuiltIn(resource) {
          least[resource] = 0
          continue
        }
        least[resource] = min(least[resource], grants.amount(of: resource, in: grant))
      }
    }
    return least
  }

  @inline(__always)
  mutating func look(at node: NodeID) {
    if node != .local { lookElsewhere(node) }
  }

  private mutating func lookElsewhere(_ node: NodeID) {
    var isRoomy = pools[node.index].capacity[Int(ResourceEntry.cpu)] > 0
    for resource in leastElsewhere.indices where isOfMachine(resource) {
      if pools[node.index].free(resource) < leastElsewhere[resource] { isRoomy = false }
    }
    if isRoomy { roomy.insert(node) } else { roomy.remove(node) }
  }
}

extension NodeOffer {
  fileprivate init(of pool: Pool, _ gpu: Int) {
    self.init(
      cpu: pool.capacity[Int(ResourceEntry.cpu)],
      memoryBytes: pool.capacity[Int(ResourceEntry.memory)],
      gpus: gpu < 0 ? 0 : pool.capacity[gpu] / 1000)
  }
}

extension Resources {
  func processors(in grant: Int32) -> UInt64 { grants.amount(of: Self.processor, in: grant) }

  @inline(__always)
  func wholeHas(_ amount: UInt64) -> Bool {
    guard let whole else { return true }
    return whole.has(amount, of: Self.processor, beside: wholeHeldBack)
  }

  var wholeHeldBack: UInt64 {
    (reservedHere.map { processors(in: $0.grant) } ?? 0)
      + (reservedElsewhere.map { processors(in: $0.grant) } ?? 0)
      + reservedTogether.reduce(0) { $1.resource == Self.processor ? $0 + $1.amount : $0 }
  }

  func cutToWhole(_ items: [DemandItem]) -> [DemandItem] {
    guard let limit = whole?.capacity[Self.processor] else { return items }
    return items.map { item in
      var item = item
      if item.resource == ResourceEntry.cpu { item.amount = min(item.amount, limit) }
      return item
    }
  }
}

extension Resources {
  var away: UInt64 {
    get { pools[0].away }
    set { pools[0].setAway(newValue) }
  }

  /// Neither held nor reserved.
  func idleProcessors(at node: NodeID) -> UInt64 {
    let free = min(pools[node.index].idleProcessors, whole?.free(Self.processor) ?? .max)
    return free - min(free, heldBack(of: Self.processor, in: node.index))
  }

  func processors(at node: NodeID) -> UInt64 { pools[node.index].capacity[Self.processor] }

  /// Held beyond the capacity.
  func overdrawnProcessors(at node: NodeID) -> UInt64 {
    let pool = pools[node.index]
    let (held, capacity) = (pool.held[Self.processor], pool.capacity[Self.processor])
    return held > capacity ? held - capacity : 0
  }

  /// The share must drain.
  func isOverdrawn(_ share: Share) -> Bool {
    hasShrunk
      && grants.items[grants.range(share.grant)].contains { item in
        let resource = Int(item.resource)
        let pool = pools[poolIndex(of: resource, at: share.node)]
        return pool.held[resource] > pool.capacity[resource]
      }
  }

  /// The smallest CPU shortfall over `nodes`; 0 if another resource is short too, since recalled
  /// tokens would be lent again at once.
  func lackingProcessors(_ demandClass: Int, at nodes: [NodeID]) -> UInt64 {
    let grant = grants.current(demandClass)
    return nodes.compactMap { lackingProcessors(at: $0) { grants.amount(of: $0, in: grant) } }
      .min() ?? 0
  }

  func lackingProcessors(_ amounts: [[DemandItem]], at node: NodeID) -> UInt64 {
    lackingProcessors(at: node) { amounts.sum(of: $0) } ?? 0
  }

  private func lackingProcessors(at node: NodeID, of wanted: (Int) -> UInt64) -> UInt64? {
    for resource in plan.resources.indices where resource != Self.processor {
      let amount = wanted(resource)
      if amount == 0 { continue }
      let pool = poolIndex(of: resource, at: node)
      let heldBack = heldBack(of: resource, in: pool)
      if !pools[pool].has(amount, of: resource, beside: heldBack) { return nil }
    }
    func lacking(_ free: UInt64, _ heldBack: UInt64) -> UInt64 {
      let (amount, overflow) = wanted(Self.processor).addingReportingOverflow(heldBack)
      return overflow ? .max : amount - min(amount, free)
    }
    let here = lacking(
      pools[node.index].free(Self.processor), heldBack(of: Self.processor, in: node.index))
    guard let whole else { return here }
    return max(here, lacking(whole.free(Self.processor), wholeHeldBack))
  }

  /// Without lent tokens.
  func processors(of share: Share) -> UInt64 { grants.amount(of: Self.processor, in: share.grant) }

  mutating func lend(_ count: Int32, at node: NodeID) {
    pools[node.index].take(UInt64(count), of: Self.processor)
    whole?.take(UInt64(count), of: Self.processor)
    look(at: node)
  }

  mutating func takeBack(_ count: Int32, at node: NodeID) {
    pools[node.index].give(UInt64(count), of: Self.processor)
    whole?.give(UInt64(count), of: Self.processor)
    look(at: node)
  }

  static let processor = Int(ResourceEntry.cpu)
}

extension [DemandItem] {
  func amount(of resource: Int) -> UInt64 {
    first { Int($0.resource) == resource }?.amount ?? 0
  }
}

extension [[DemandItem]] {
  func sum(of resource: Int) -> UInt64 {
    reduce(0) { sum, items in
      let (next, overflow) = sum.addingReportingOverflow(items.amount(of: resource))
      return overflow ? .max : next
    }
  }
}

struct NodeSet {
  private(set) var members: [NodeID] = []
  private var places: [Int32] = []

  var isEmpty: Bool { members.isEmpty }

  mutating func insert(_ node: NodeID) {
    while places.count <= node.index { places.append(-1) }
    guard places[node.index] < 0 else { return }
    places[node.index] = Int32(truncatingIfNeeded: members.count)
    members.append(node)
  }

  mutating func remove(_ node: NodeID) {
    guard node.index < places.count, places[node.index] >= 0 else { return }
    let place = Int(places[node.index])
    places[node.index] = -1
    guard let moved = members.removeBySwapping(at: place) else { return }
    places[moved.index] = Int32(truncatingIfNeeded: place)
  }
}

extension Resources {
  func checkInvariants(holding shares: [Share]) -> String? {
    var held = pools.all.map { [UInt64](repeating: 0, count: $0.capacity.count) }
    for share in shares {
      for item in grants.items[grants.range(share.grant)] {
        held[poolIndex(of: Int(item.resource), at: share.node)][Int(item.resource)] += item.amount
      }
      for (other, same) in commonDevices.elsewhere(share.devices, of: share.node) {
        held[other.index][gpu] += UInt64(same.count) * 1000
      }
      held[share.node.index][Self.processor] += UInt64(share.lent)
    }
    if held != pools.all.map(\.held) { return "held resources are miscounted" }
    if let whole, whole.held[Self.processor] != held.reduce(0, { $0 + $1[Self.processor] }) {
      return "held resources of all nodes are miscounted"
    }
    if gpu >= 0, let problem = checkDevices(of: shares) { return problem }
    if let problem = checkBindings(of: shares) { return problem }
    // After a capacity was lowered, use beyond it drains.
    if !hasShrunk, !pools.all.allSatisfy(\.isWithinCapacity) { return "a resource is exceeded" }
    return grants.checkInvariants(holding: shares.map(\.grant))
  }

  private func checkBindings(of shares: [Share]) -> String? {
    var counts = bindings.map { _ in 0 }
    for share in shares {
      guard let group = serviceClasses.group(of: grants.demandClass(of: share.grant)) else {
        continue
      }
      if share.node == .local { return "services of other nodes are on this one" }
      if share.node != bindings[group].node { return "a group of services is on two nodes" }
      counts[group] += 1
    }
    return counts == bindings.map(\.shares) ? nil : "bound resources are miscounted"
  }

  private func checkDevices(of shares: [Share]) -> String? {
    var taken = pools.all.map { _ in DeviceSet() }
    for share in shares {
      let wanted = grants.items[grants.range(share.grant)].first { Int($0.resource) == gpu }?.amount
      if share.devices.count != Int((wanted ?? 0) / 1000) { return "a task does not have its GPUs" }
      if !taken[share.node.index].isDisjoint(with: share.devices) { return "a GPU has two tasks" }
      taken[share.node.index].formUnion(share.devices)
      for (other, same) in commonDevices.elsewhere(share.devices, of: share.node) {
        if !taken[other.index].isDisjoint(with: same) { return "a GPU has tasks of two nodes" }
        taken[other.index].formUnion(same)
      }
    }
    return taken == devicesTaken ? nil : "GPUs that are taken are miscounted"
  }
}
