internal import OpflowPlan

/// Held while a worker has the task.
struct Share: Equatable {
  var site: SiteID
  /// By the node's numbers.
  var devices = DeviceSet()
  /// An index into `Resources.grants`.
  var grant: Int32
  /// Additional `cpu`, lent to its jobserver.
  var lent: Int32 = 0
}

/// The resources that tasks share: `cpu`, `memory` and `gpu` of each node, and everything else of
/// the run.
///
/// Tasks with equal demands that may run on the same nodes form a *demand class* (`lane`). Tasks
/// with the terminal have their own: they may wait for it after their resources are free. Demands
/// are limited to the capacities.
package struct Resources {
  private(set) var plan: Plan
  /// The number of `gpu` if counted per node; otherwise -1.
  let gpu: Int
  /// By node.
  var devicesTaken: [DeviceSet] = [DeviceSet()]
  var commonDevices = CommonDevices()
  private let usesSites: Bool
  /// Bound to the local node.
  private var local: TaskSet?
  /// By node; the local one also has the run's resources.
  var pools: Table<Pool>
  /// Where something may still fit.
  private var roomy = SiteSet()
  /// Limits the `cpu` held on all nodes together.
  var whole: Pool?
  /// A capacity was lowered.
  var hasShrunk = false
  /// Of remote nodes, each once.
  private var shapes: [SiteOffer] = []

  var grants = Grants()
  private(set) var lanes = Lanes()
  /// Classes of services, and of tasks that need them.
  private(set) var serviceLanes = ServiceLanes()
  /// The smallest demand of any class, by resource: with less, nothing more fits.
  private var leastHere: [UInt64] = []
  private var leastElsewhere: [UInt64] = []

  /// Reserved for the first ready tasks that do not fit, local and remote.
  private(set) var reservedHere: Share?
  private(set) var reservedElsewhere: Share?
  /// For a task with its services.
  var reservedTogether: [HeldBack] = []
  /// Of service groups.
  var bindings: [Binding] = []
  /// The joint demand by class with services, and its maximum by group.
  var jointWants: [JointWant] = []
  var groupWants: [JointWant] = []

  init(plan: Plan, options: SchedulerOptions, groups: ServiceGroups? = nil) {
    self.plan = plan
    gpu = plan.gpuResource ?? -1
    usesSites = options.usesSites
    pools = Table([Pool(capacity: options.capacities(of: plan))])
    pools[0].setAway(options.processorsAway)
    whole = options.wholeParallel.map { Pool(capacity: [$0]) }
    addLanes(from: 0, groups)
    cutAll()
  }

  mutating func grow(to plan: Plan, groups: ServiceGroups?) {
    let (first, before) = (self.plan.taskCount, lanes.all.count { $0.isUsed })
    self.plan = plan
    addLanes(from: first, groups)
    if lanes.all.count(where: { $0.isUsed }) != before { cutAll() }
  }

  // MARK: - Demand classes

  var laneCount: Int { grants.laneCount }

  private mutating func addLanes(from first: Int, _ groups: ServiceGroups?) {
    if usesSites { noteLocal(from: first) }
    lanes.cover(plan, usesSites: usesSites)
    serviceLanes.add(tasksOf: plan, from: first, groups: groups, to: &lanes)
    for index in first..<plan.taskCount {
      let task = TaskID(index)
      // Demand 0, the empty one, exists even without tasks.
      if plan.kind(task) == .approve { continue }
      let lane = lane(of: task)
      if !lanes[lane].isUsed { lanes.use(lane) }
    }
    for lane in grants.laneCount..<lanes.count { grants.addLane(wanted(in: lane)) }
    while bindings.count < serviceLanes.groupCount { bindings.append(Binding()) }
  }

  @inline(__always)
  func lane(of task: TaskID) -> Int {
    if let lane = serviceLanes.lane(of: task) { return lane }
    let demand = Int(plan.demand[task.index])
    if plan.hasInteractive, plan.flags(task).contains(.interactive) {
      return lanes.terminalLane(of: demand)
    }
    if plan.hasBlocks, plan.kind(task) == .block { return lanes.blockLane(of: demand) }
    return lanes.lane(of: demand, isLocal: !usesSites || local?.contains(task) == true)
  }

  /// One bit each saves reading the tasks' records later.
  private mutating func noteLocal(from first: Int) {
    local?.grow(to: plan.taskCount)
    for index in first..<plan.taskCount where plan.staysOnCoordinator(TaskID(index)) {
      if local == nil { local = TaskSet(taskCount: plan.taskCount) }
      local?.insert(TaskID(index))
    }
  }

  @inline(__always)
  func isLocal(_ lane: Int) -> Bool { lanes[lane].isLocal }

  // MARK: - Taking

  @inline(__always)
  func fits(_ lane: Int, at site: SiteID) -> Bool {
    if whole != nil, !wholeHas(processors(in: grants.current(lane))) { return false }
    for place in grants.range(grants.current(lane)) {
      let item = grants.items[place]
      let resource = Int(item.resource)
      let pool = poolIndex(of: resource, at: site)
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
    guard let reserved, isHeld(resource, at: reserved.site, in: pool) else { return 0 }
    return grants.amount(of: resource, in: reserved.grant)
  }

  mutating func take(_ lane: Int, at site: SiteID) -> Share {
    let grant = grants.current(lane)
    grants.hold(grant)
    return takeHeld(grant, of: lane, at: site)
  }

  @inline(__always)
  mutating func takeHeld(_ grant: Int32, of lane: Int, at site: SiteID) -> Share {
    for place in grants.range(grant) {
      let item = grants.items[place]
      let resource = Int(item.resource)
      pools[poolIndex(of: resource, at: site)].take(item.amount, of: resource)
    }
    if whole != nil {
      let processors = processors(in: grant)
      whole?.take(processors, of: Self.processor)
    }
    if serviceLanes.groupCount > 0 { bind(lane, to: site) }
    look(at: site)
    var share = Share(site: site, grant: grant)
    if gpu >= 0 { share.devices = takeDevices(grants.amount(of: gpu, in: grant), at: site) }
    return share
  }

  mutating func give(_ share: Share) {
    for place in grants.range(share.grant) {
      let item = grants.items[place]
      let resource = Int(item.resource)
      pools[poolIndex(of: resource, at: share.site)].give(item.amount, of: resource)
    }
    if whole != nil {
      let processors = processors(in: share.grant)
      whole?.give(processors, of: Self.processor)
    }
    if serviceLanes.groupCount > 0 { unbind(grants.lane(of: share.grant)) }
    grants.release(share.grant)
    if !share.devices.isEmpty { giveDevices(share.devices, at: share.site) }
    if share.lent > 0 { takeBack(share.lent, at: share.site) }
    look(at: share.site)
  }

  // MARK: - Placement

  @inline(__always)
  var mayFitMore: Bool { mayFitMoreHere || usesSites && !roomy.isEmpty && runMayFitMore }

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

  var roomySites: [SiteID] { roomy.members }

  @inline(__always)
  func candidates(for lane: Int) -> [SiteID] { isLocal(lane) ? Self.here : roomy.members }

  static let here: [SiteID] = [.local]

  /// From 0 to 1.
  func load(of site: SiteID) -> Double {
    let pool = pools[site.index]
    let cpu = Int(ResourceEntry.cpu)
    return pool.capacity[cpu] == 0 ? 1 : Double(pool.held[cpu]) / Double(pool.capacity[cpu])
  }

  /// On the least loaded node, so that smaller tasks cannot starve it.
  mutating func reserve(_ lane: Int, atOneOf sites: [SiteID]) {
    guard (isLocal(lane) ? reservedHere : reservedElsewhere) == nil,
      !isReservedTogether(isLocal: isLocal(lane))
    else { return }
    var best: SiteID?
    var bestLoad = 2.0
    for site in sites where isWithinCapacity(lane, at: site) {
      let load = load(of: site)
      if load < bestLoad { (best, bestLoad) = (site, load) }
    }
    let share = best.map { Share(site: $0, grant: grants.current(lane)) }
    if isLocal(lane) { reservedHere = share } else { reservedElsewhere = share }
  }

  @inline(__always)
  func isWithinCapacity(_ lane: Int, at site: SiteID) -> Bool {
    grants.items[grants.range(grants.current(lane))].allSatisfy { item in
      let resource = Int(item.resource)
      return item.amount <= pools[poolIndex(of: resource, at: site)].capacity[resource]
    }
  }

  mutating func clearReservations() {
    reservedHere = nil
    reservedElsewhere = nil
    if !reservedTogether.isEmpty { reservedTogether.removeAll() }
  }

  // MARK: - Capacities

  /// - Parameter devicesHere: the local number of each GPU that the local node has too.
  mutating func join(_ offer: SiteOffer, devicesHere: [Int?] = []) {
    precondition(usesSites, "a run on this machine alone has no other sites")
    pools.append(Pool(capacity: Array(repeating: 0, count: plan.resources.count)))
    devicesTaken.append(DeviceSet())
    let site = SiteID(Int32(truncatingIfNeeded: pools.count - 1))
    if gpu >= 0 { noteCommon(devicesHere, of: site) }
    setOffer(offer, of: site)
  }

  mutating func setOffer(_ offer: SiteOffer, of site: SiteID) {
    precondition(site != .local, "this machine's capacities are set one by one")
    let before = SiteOffer(of: pools[site.index], gpu)
    if offer.cpu < before.cpu || offer.memoryBytes < before.memoryBytes || offer.gpus < before.gpus
    {
      hasShrunk = true
    }
    pools[site.index].setCapacity(offer.cpu, of: Int(ResourceEntry.cpu))
    pools[site.index].setCapacity(offer.memoryBytes, of: Int(ResourceEntry.memory))
    if gpu >= 0 {
      pools[site.index].setCapacity(min(offer.gpus, UInt64(DeviceSet.most)) * 1000, of: gpu)
    }
    shapes = []
    for pool in pools.all.dropFirst() { note(SiteOffer(of: pool, gpu)) }
    cutAll()
  }

  /// Closes a node to starts; shares come back as its workers are lost.
  mutating func leave(_ site: SiteID) { setOffer(SiteOffer(cpu: 0, memoryBytes: 0), of: site) }

  /// Of the local node, or of the run.
  func capacity(of resource: Int) -> UInt64 { pools[0].capacity[resource] }

  mutating func setCapacity(_ amount: UInt64, of resource: Int) {
    if amount < pools[0].capacity[resource] { hasShrunk = true }
    pools[0].setCapacity(amount, of: resource)
    if resource == Self.processor { whole?.setCapacity(amount, of: resource) }
    cutAll()
  }

  private mutating func note(_ shape: SiteOffer) {
    if shape.cpu > 0, !shapes.contains(shape) { shapes.append(shape) }
  }

  @inline(__always)
  private func isOfMachine(_ resource: Int) -> Bool {
    ResourceEntry.isOfMachine(resource, gpu: gpu)
  }

  /// Whether demands are limited to the capacity.
  static func isBuiltIn(_ resource: Int) -> Bool {
    resource <= Int(ResourceEntry.download)
  }

  @inline(__always)
  func poolIndex(of resource: Int, at site: SiteID) -> Int {
    isOfMachine(resource) ? site.index : 0
  }

  // MARK: - Limiting demands

  private func wanted(in lane: Int) -> [DemandItem] {
    Array(plan.demandList(lanes[lane].demand))
  }

  /// A task that wants more runs alone.
  private mutating func cutAll() {
    for lane in lanes.all.indices where lanes[lane].isUsed {
      let wanted = wanted(in: lane)
      grants.cut(lane, to: isLocal(lane) ? cutHere(wanted) : cutElsewhere(wanted))
    }
    leastHere = least { isLocal($0) }
    if usesSites { leastElsewhere = least { !isLocal($0) } }
    joinWants()
    for site in pools.indices { look(at: SiteID(Int32(truncatingIfNeeded: site))) }
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
    for lane in lanes.all.indices where lanes[lane].isUsed && belongs(lane) {
      let grant = grants.current(lane)
      for resource in least.indices {
        // With its services it may be limited further.
        if serviceLanes.contains(lane), Self.isBuiltIn(resource) {
          least[resource] = 0
          continue
        }
        least[resource] = min(least[resource], grants.amount(of: resource, in: grant))
      }
    }
    return least
  }

  /// Updates `roomy` for a node.
  @inline(__always)
  mutating func look(at site: SiteID) {
    if site != .local { lookElsewhere(site) }
  }

  private mutating func lookElsewhere(_ site: SiteID) {
    var isRoomy = pools[site.index].capacity[Int(ResourceEntry.cpu)] > 0
    for resource in leastElsewhere.indices where isOfMachine(resource) {
      if pools[site.index].free(resource) < leastElsewhere[resource] { isRoomy = false }
    }
    if isRoomy { roomy.insert(site) } else { roomy.remove(site) }
  }
}

extension SiteOffer {
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

  /// A task that wants more than the run may have runs alone.
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
  func idleProcessors(at site: SiteID) -> UInt64 {
    let free = min(pools[site.index].idleProcessors, whole?.free(Self.processor) ?? .max)
    return free - min(free, heldBack(of: Self.processor, in: site.index))
  }

  func processors(at site: SiteID) -> UInt64 { pools[site.index].capacity[Self.processor] }

  /// Held beyond the capacity.
  func overdrawnProcessors(at site: SiteID) -> UInt64 {
    let pool = pools[site.index]
    let (held, capacity) = (pool.held[Self.processor], pool.capacity[Self.processor])
    return held > capacity ? held - capacity : 0
  }

  /// Held beyond the capacity, so that it must drain.
  func isOverdrawn(_ share: Share) -> Bool {
    hasShrunk
      && grants.items[grants.range(share.grant)].contains { item in
        let resource = Int(item.resource)
        let pool = pools[poolIndex(of: resource, at: share.site)]
        return pool.held[resource] > pool.capacity[resource]
      }
  }

  /// The smallest CPU shortfall over `sites`; 0 if another resource is short too, since recalled
  /// tokens would be lent again at once.
  func lackingProcessors(_ lane: Int, at sites: [SiteID]) -> UInt64 {
    let grant = grants.current(lane)
    return sites.compactMap { lackingProcessors(at: $0) { grants.amount(of: $0, in: grant) } }
      .min() ?? 0
  }

  func lackingProcessors(_ amounts: [[DemandItem]], at site: SiteID) -> UInt64 {
    lackingProcessors(at: site) { amounts.sum(of: $0) } ?? 0
  }

  private func lackingProcessors(at site: SiteID, of wanted: (Int) -> UInt64) -> UInt64? {
    for resource in plan.resources.indices where resource != Self.processor {
      let amount = wanted(resource)
      if amount == 0 { continue }
      let pool = poolIndex(of: resource, at: site)
      let heldBack = heldBack(of: resource, in: pool)
      if !pools[pool].has(amount, of: resource, beside: heldBack) { return nil }
    }
    func lacking(_ free: UInt64, _ heldBack: UInt64) -> UInt64 {
      let (amount, overflow) = wanted(Self.processor).addingReportingOverflow(heldBack)
      return overflow ? .max : amount - min(amount, free)
    }
    let here = lacking(
      pools[site.index].free(Self.processor), heldBack(of: Self.processor, in: site.index))
    guard let whole else { return here }
    return max(here, lacking(whole.free(Self.processor), wholeHeldBack))
  }

  /// Without lent tokens.
  func processors(of share: Share) -> UInt64 { grants.amount(of: Self.processor, in: share.grant) }

  mutating func lend(_ count: Int32, at site: SiteID) {
    pools[site.index].take(UInt64(count), of: Self.processor)
    whole?.take(UInt64(count), of: Self.processor)
    look(at: site)
  }

  mutating func takeBack(_ count: Int32, at site: SiteID) {
    pools[site.index].give(UInt64(count), of: Self.processor)
    whole?.give(UInt64(count), of: Self.processor)
    look(at: site)
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

struct SiteSet {
  private(set) var members: [SiteID] = []
  private var places: [Int32] = []

  var isEmpty: Bool { members.isEmpty }

  mutating func insert(_ site: SiteID) {
    while places.count <= site.index { places.append(-1) }
    guard places[site.index] < 0 else { return }
    places[site.index] = Int32(truncatingIfNeeded: members.count)
    members.append(site)
  }

  mutating func remove(_ site: SiteID) {
    guard site.index < places.count, places[site.index] >= 0 else { return }
    let place = Int(places[site.index])
    places[site.index] = -1
    guard let moved = members.removeBySwapping(at: place) else { return }
    places[moved.index] = Int32(truncatingIfNeeded: place)
  }
}

extension Resources {
  func checkInvariants(holding shares: [Share]) -> String? {
    var held = pools.all.map { [UInt64](repeating: 0, count: $0.capacity.count) }
    for share in shares {
      for item in grants.items[grants.range(share.grant)] {
        held[poolIndex(of: Int(item.resource), at: share.site)][Int(item.resource)] += item.amount
      }
      for (other, same) in commonDevices.elsewhere(share.devices, of: share.site) {
        held[other.index][gpu] += UInt64(same.count) * 1000
      }
      held[share.site.index][Self.processor] += UInt64(share.lent)
    }
    if held != pools.all.map(\.held) { return "what is held is miscounted" }
    if let whole, whole.held[Self.processor] != held.reduce(0, { $0 + $1[Self.processor] }) {
      return "what is held of all machines is miscounted"
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
      guard let group = serviceLanes.group(of: grants.lane(of: share.grant)) else { continue }
      if share.site == .local { return "services of other machines are on this one" }
      if share.site != bindings[group].site { return "a group of services is on two machines" }
      counts[group] += 1
    }
    return counts == bindings.map(\.shares) ? nil : "what is bound to machines is miscounted"
  }

  private func checkDevices(of shares: [Share]) -> String? {
    var taken = pools.all.map { _ in DeviceSet() }
    for share in shares {
      let wanted = grants.items[grants.range(share.grant)].first { Int($0.resource) == gpu }?.amount
      if share.devices.count != Int((wanted ?? 0) / 1000) { return "a task has not its GPUs" }
      if !taken[share.site.index].isDisjoint(with: share.devices) { return "a GPU has two tasks" }
      taken[share.site.index].formUnion(share.devices)
      for (other, same) in commonDevices.elsewhere(share.devices, of: share.site) {
        if !taken[other.index].isDisjoint(with: same) { return "a GPU has tasks of two sites" }
        taken[other.index].formUnion(same)
      }
    }
    return taken == devicesTaken ? nil : "GPUs that are taken are miscounted"
  }
}
