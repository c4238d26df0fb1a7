internal import OpflowPlan

/// Nodes and workers, what each worker holds, and its deadlines. Only this type changes them;
/// changes return what they release.
struct Workforce {
  private(set) var nodes = Table<Node>()
  /// Includes workers that are gone.
  private(set) var workers = Table<WorkerRecord>()
  private(set) var throughputs: ByKind<Throughput>
  private(set) var backlogs: Backlogs
  var watch = WorkerWatch()
  /// Includes tasks that workers will get.
  private(set) var heldCount = 0
  private(set) var prefetchedCount = 0
  private(set) var revokingCount = 0
  private(set) var alive = ByKind { _ in 0 }
  private(set) var idle = ByKind { _ in 0 }
  private(set) var launching = ByKind { _ in 0 }
  private(set) var hasComplaints = false

  init(options: SchedulerOptions, downloads: UInt64, classCount: Int) {
    nodes.append(Node(pools: Self.pools(cpu: options.maxParallel, downloads: downloads)))
    throughputs = ByKind { $0.throughput(options) }
    backlogs = Backlogs(classCount: classCount, isKept: options.prefetches)
  }

  private static func pools(cpu: UInt64, downloads: UInt64) -> ByKind<WorkerPool> {
    ByKind { WorkerPool(limit: $0.limit(cpu: cpu, downloads: downloads)) }
  }

  // MARK: - Nodes

  /// Without an offer, the first worker reports the resources.
  mutating func join(_ offer: NodeOffer?) -> NodeID {
    var node = Node(pools: Self.pools(cpu: offer?.cpu ?? 0, downloads: 1))
    node.isUnknown = offer == nil
    node.pools[.service].limit = nodes[0].pools[.service].limit
    nodes.append(node)
    return NodeID(Int32(truncatingIfNeeded: nodes.count - 1))
  }

  mutating func setOffer(_ offer: NodeOffer, of node: NodeID) {
    nodes[node.index].isUnknown = false
    let pools = Self.pools(cpu: offer.cpu, downloads: 1)
    for kind in WorkerKind.allCases where kind != .service {
      nodes[node.index].pools[kind].limit = pools[kind].limit
    }
  }

  /// Each service may have a worker on the same node.
  mutating func setServices(_ count: Int) {
    for node in nodes.indices { nodes[node].pools[.service].limit = max(count, 1) }
  }

  mutating func grow(classCount: Int) { backlogs.grow(to: classCount) }

  mutating func setLimit(of kind: WorkerKind, for capacity: UInt64) {
    let pools = Self.pools(cpu: capacity, downloads: capacity)
    nodes[0].pools[kind].limit = pools[kind].limit
  }

  mutating func leave(_ node: NodeID) { nodes[node.index].isGone = true }

  func isThere(_ node: NodeID) -> Bool {
    nodes.indices.contains(node.index) && !nodes[node.index].isGone
  }

  func complaint(of kind: WorkerKind) -> String? { nodes[0].pools[kind].complaint }

  mutating func noteTime(of kind: WorkerKind, _ now: Instant) -> Bool {
    throughputs[kind].noteTime(now)
  }

  // MARK: - Queries

  func isAlive(_ worker: WorkerID) -> Bool {
    workers.indices.contains(worker.index) && workers[worker.index].state != .gone
  }

  var living: [WorkerID] {
    nodes.count == 1 ? nodes[0].workers : nodes.indices.flatMap { nodes[$0].workers }
  }

  var isAnyOnItsWay: Bool { WorkerKind.allCases.contains { launching[$0] > 0 } }

  func wantsScout(_ node: NodeID) -> Bool {
    let pool = nodes[node.index].pools[.command]
    return isThere(node) && nodes[node.index].isUnknown && pool.alive == 0
      && pool.complaint == nil
  }

  func count(of kind: WorkerKind) -> Int { alive[kind] }

  /// Each worker is idle, or can have tasks prefetched.
  func areAllAtWork(_ kind: WorkerKind) -> Bool {
    alive[kind] == idle[kind] + backlogs.count(of: kind)
  }

  @inline(__always)
  func canTake(_ kind: WorkerKind, at node: NodeID) -> Bool {
    return nodes[node.index].pools[kind].hasIdle
      || nodes[node.index].pools[kind].hasRoom && throughputs[kind].wantsMore(alive: alive[kind])
  }

  func hasIdle(_ kind: WorkerKind, at node: NodeID) -> Bool {
    nodes[node.index].pools[kind].hasIdle
  }

  func launching(_ kind: WorkerKind, at node: NodeID) -> Int {
    nodes[node.index].pools[kind].launching
  }

  func mayLaunch(_ kind: WorkerKind, at node: NodeID) -> Bool {
    nodes[node.index].pools[kind].hasRoom
  }

  /// The number of tasks that can start at once if resources allow.
  func startable(_ kind: WorkerKind, at node: NodeID) -> Int {
    let pool = nodes[node.index].pools[kind]
    if pool.isPaused { return 0 }
    if !pool.idle.isEmpty { return pool.idle.count }
    let mayGrow = pool.alive < pool.limit && throughputs[kind].wantsMore(alive: alive[kind])
    return throughputs[kind].growsWhenSlow && mayGrow ? 1 : 0
  }

  // MARK: - Launching

  /// Requires `canTake`.
  mutating func claim(
    _ kind: WorkerKind, at node: NodeID, now: Instant
  ) -> (worker: WorkerID, isNew: Bool) {
    if let free = nodes[node.index].pools[kind].idle.last {
      leaveIdle(free)
      return (free, false)
    }
    return (launch(kind, at: node, now: now), true)
  }

  mutating func launch(_ kind: WorkerKind, at node: NodeID, now: Instant) -> WorkerID {
    let worker = WorkerID(Int32(truncatingIfNeeded: workers.count))
    var record = WorkerRecord(kind: kind, node: node)
    record.place = Int32(truncatingIfNeeded: nodes[node.index].workers.count)
    workers.append(record)
    nodes[node.index].workers.append(worker)
    watch.add(helloBy: now.advanced(byMilliseconds: SchedulerOptions.helloMilliseconds))
    changePool(of: worker) {
      $0.alive += 1
      $0.launching += 1
    }
    alive[kind] += 1
    launching[kind] += 1
    throughputs[kind].noteLaunch(at: now)
    return worker
  }

  /// The worker is not launched and gets a task at once.
  mutating func enlist(_ kind: WorkerKind, at now: Instant) -> WorkerID {
    let worker = launch(kind, at: .local, now: now)
    _ = welcome(worker)
    leaveIdle(worker)
    return worker
  }

  mutating func engage(_ worker: WorkerID) { leaveIdle(worker) }

  mutating func takeOver(_ task: TaskID, demandClass: Int, _ share: Share, at now: Instant)
    -> WorkerID
  {
    let worker = enlist(.service, at: now)
    workers[worker.index].isOfEarlierSession = true
    _ = assign(task, demandClass: demandClass, share, to: worker, at: now)
    return worker
  }

  /// Returns the assigned task, which was not journaled; nil if the worker was not launching.
  mutating func welcome(_ worker: WorkerID) -> Freed? {
    guard isAlive(worker), workers[worker.index].state == .launching,
      !workers[worker.index].isDiscarded
    else { return nil }
    changePool(of: worker) {
      $0.silent = 0
      $0.launching -= 1
    }
    launching[workers[worker.index].kind] -= 1
    watch.clearDeadline(of: worker)
    // A client's connection shows that it lives.
    if workers[worker.index].kind != .block { watch.listen(to: worker) }
    let freed = retract(worker)
    becomeIdle(worker)
    return freed
  }

  mutating func retract(_ worker: WorkerID) -> Freed {
    let record = workers[worker.index]
    if record.current.isNone { return Freed() }
    heldCount -= 1
    return Freed(task: record.current, share: workers[worker.index].letGo())
  }

  // MARK: - Tasks

  mutating func assign(
    _ task: TaskID, demandClass: Int, _ share: Share, to worker: WorkerID, at now: Instant
  ) -> Bool {
    heldCount += 1
    workers[worker.index].hold(task, demandClass: demandClass, share)
    switch workers[worker.index].state {
    case .launching: return false
    case .idle: workers[worker.index].state = .busy
    case .busy, .gone: preconditionFailure("a task was given to a worker that cannot take it")
    }
    throughputs[workers[worker.index].kind].noteStart(at: now)
    backlogs.update(worker, in: &workers)
    return true
  }

  mutating func prefetch(_ task: TaskID, to worker: WorkerID) {
    precondition(workers[worker.index].mayHaveMore, "a task was prefetched for an idle worker")
    heldCount += 1
    prefetchedCount += 1
    workers[worker.index].ahead.append(PrefetchedTask(task: task))
    backlogs.update(worker, in: &workers)
  }

  /// Returns false if there was a recall already.
  mutating func noteRevoking(_ place: Int, of worker: WorkerID) -> Bool {
    if workers[worker.index].ahead[place].isRevoking { return false }
    workers[worker.index].ahead[place].isRevoking = true
    revokingCount += 1
    return true
  }

  mutating func followOn(_ worker: WorkerID, at now: Instant) {
    throughputs[workers[worker.index].kind].noteStart(at: now)
    workers[worker.index].current = removePrefetched(0, of: worker)
    watch.clearDeadline(of: worker)
    backlogs.update(worker, in: &workers)
  }

  private mutating func removePrefetched(_ place: Int, of worker: WorkerID) -> TaskID {
    let prefetched = workers[worker.index].ahead.remove(at: place)
    prefetchedCount -= 1
    if prefetched.isRevoking { revokingCount -= 1 }
    return prefetched.task
  }

  mutating func noteStop(of worker: WorkerID, by deadline: Instant) {
    workers[worker.index].isStopping = true
    watch.setDeadline(of: worker, at: deadline)
    backlogs.update(worker, in: &workers)
  }

  mutating func noteStandstill(_ standsStill: Bool, of worker: WorkerID) {
    workers[worker.index].standsStill = standsStill
    backlogs.update(worker, in: &workers)
  }

  mutating func noteLent(_ change: Int32, to worker: WorkerID) {
    workers[worker.index].share?.lent += change
  }

  mutating func noteRunState(knownBy worker: WorkerID) {
    workers[worker.index].knowsRunState = true
  }

  /// After a success the worker starts the next prefetched task by itself, else it returns all.
  mutating func ended(_ worker: WorkerID, continues: Bool, wall: Int64, at now: Instant) -> Freed {
    let kind = workers[worker.index].kind
    throughputs[kind].noteEnd(
      wallMicroseconds: wall, alive: alive[kind], busy: alive[kind] - idle[kind] - launching[kind],
      at: now)
    heldCount -= 1
    let task = workers[worker.index].current
    watch.clearDeadline(of: worker)
    if workers[worker.index].ahead.isEmpty {
      let share = workers[worker.index].letGo()
      becomeIdle(worker)
      return Freed(task: task, share: share)
    }
    let follows = continues && !workers[worker.index].isStopping
    workers[worker.index].isStopping = false
    workers[worker.index].standsStill = false
    workers[worker.index].current = .none
    if follows {
      // The task may still come back, if the recall arrived first.
      followOn(worker, at: now)
    } else {
      watch.setDeadline(
        of: worker, at: now.advanced(byMilliseconds: SchedulerOptions.stopSlackMilliseconds))
      backlogs.update(worker, in: &workers)
    }
    return Freed(task: task)
  }

  mutating func revoked(_ worker: WorkerID, _ task: TaskID, at now: Instant) -> Freed? {
    if let place = workers[worker.index].ahead.firstIndex(where: { $0.task == task }) {
      _ = removePrefetched(place, of: worker)
    } else if workers[worker.index].current == task {
      // The prefetched tasks come back too.
      workers[worker.index].current = .none
      workers[worker.index].isStopping = false
      workers[worker.index].standsStill = false
      if !workers[worker.index].ahead.isEmpty {
        watch.setDeadline(
          of: worker, at: now.advanced(byMilliseconds: SchedulerOptions.stopSlackMilliseconds))
      }
    } else {
      return nil
    }
    heldCount -= 1
    guard workers[worker.index].current.isNone, workers[worker.index].ahead.isEmpty else {
      backlogs.update(worker, in: &workers)
      return Freed(task: task)
    }
    watch.clearDeadline(of: worker)
    let share = workers[worker.index].letGo()
    becomeIdle(worker)
    return Freed(task: task, share: share)
  }

  // MARK: - Ends

  /// The worker keeps its resources until its processes are gone, since its task may run until
  /// then. Returns false if it was marked already.
  mutating func discard(_ worker: WorkerID, complaint: String) -> Bool {
    guard isAlive(worker), !workers[worker.index].isDiscarded else { return false }
    workers[worker.index].isDiscarded = true
    workers[worker.index].complaint = complaint
    watch.forget(worker)
    if workers[worker.index].idlePlace >= 0 { leaveIdle(worker) }
    backlogs.update(worker, in: &workers)
    return true
  }

  mutating func lose(_ worker: WorkerID, complaint: String) -> Loss? {
    guard isAlive(worker) else { return nil }
    var loss = bury(worker, complaint: complaint)
    let pool = pool(of: worker)
    if loss.wasLaunching {
      changePool(of: worker) { $0.silent += 1 }
      if pool.silent + 1 >= SchedulerOptions.maxSilent {
        if pool.alive > 0, workers[worker.index].kind != .service {
          limit(worker, to: pool.alive)
        } else {
          changePool(of: worker) { $0.complaint = loss.complaint }
          hasComplaints = true
          loss.isLastTry = true
        }
      }
    }
    return loss
  }

  /// The other workers of the kind continue. Service workers cannot take over: each keeps its
  /// service.
  ///
  /// - Parameter waits: True if the kind waits without other workers.
  mutating func launchFailed(_ worker: WorkerID, complaint: String, waits: Bool) -> Loss? {
    guard isAlive(worker), workers[worker.index].state == .launching else { return nil }
    let pool = pool(of: worker)
    let isService = workers[worker.index].kind == .service
    // Workers that have not come up yet may fail too.
    if waits, isService || pool.alive == pool.launching {
      var loss = bury(worker, complaint: complaint)
      loss.waits = true
      pausePool(of: worker)
      return loss
    }
    guard pool.alive > 1, !isService else {
      return lose(worker, complaint: complaint)
    }
    let loss = bury(worker, complaint: complaint)
    limit(worker, to: pool.alive - 1)
    return loss
  }

  /// The run can continue without the worker, which is then not replaced.
  mutating func spare(_ worker: WorkerID) -> Bool {
    let alive = pool(of: worker).alive
    guard alive > 1, workers[worker.index].kind != .service else { return false }
    limit(worker, to: alive - 1)
    workers[worker.index].isSpared = true
    return true
  }

  mutating func pausePool(of worker: WorkerID) { changePool(of: worker) { $0.isPaused = true } }

  mutating func endPauses() {
    for node in nodes.indices {
      for kind in WorkerKind.allCases { nodes[node].pools[kind].isPaused = false }
    }
  }

  private mutating func limit(_ worker: WorkerID, to count: Int) {
    changePool(of: worker) { $0.limit = count }
  }

  private mutating func bury(_ worker: WorkerID, complaint: String) -> Loss {
    let record = workers[worker.index]
    let kind = record.kind
    let wasLaunching = record.state == .launching
    var ahead: [TaskID] = []
    while !workers[worker.index].ahead.isEmpty { ahead.append(removePrefetched(0, of: worker)) }
    heldCount -= ahead.count + (record.current.isNone ? 0 : 1)
    let share = workers[worker.index].letGo()
    if record.idlePlace >= 0 { leaveIdle(worker) }
    workers[worker.index].state = .gone
    backlogs.update(worker, in: &workers)
    watch.forget(worker)
    changePool(of: worker) {
      $0.alive -= 1
      if wasLaunching { $0.launching -= 1 }
    }
    alive[kind] -= 1
    if wasLaunching { launching[kind] -= 1 }
    let place = Int(record.place)
    let node = record.node.index
    if let moved = nodes[node].workers.removeBySwapping(at: place) {
      workers[moved.index].place = record.place
    }
    return Loss(
      complaint: record.isDiscarded ? record.complaint : complaint, node: record.node,
      wasLaunching: wasLaunching, isSpared: record.isSpared, current: record.current,
      ahead: ahead, share: share)
  }

  // MARK: - Pools

  private func pool(of worker: WorkerID) -> WorkerPool {
    let record = workers[worker.index]
    return nodes[record.node.index].pools[record.kind]
  }

  private mutating func changePool(of worker: WorkerID, _ body: (inout WorkerPool) -> Void) {
    let node = workers[worker.index].node.index
    body(&nodes[node].pools[workers[worker.index].kind])
  }

  @inline(__always)
  private mutating func becomeIdle(_ worker: WorkerID) {
    let node = workers[worker.index].node.index
    let kind = workers[worker.index].kind
    let place = nodes[node].pools[kind].addIdle(worker)
    workers[worker.index].rest(at: place)
    idle[kind] += 1
    backlogs.update(worker, in: &workers)
  }

  @inline(__always)
  private mutating func leaveIdle(_ worker: WorkerID) {
    let node = workers[worker.index].node.index
    let kind = workers[worker.index].kind
    let place = Int(workers[worker.index].idlePlace)
    workers[worker.index].idlePlace = -1
    if let moved = nodes[node].pools[kind].removeIdle(at: place) {
      workers[moved.index].idlePlace = Int32(truncatingIfNeeded: place)
    }
    idle[kind] -= 1
  }
}

struct Freed {
  /// Or `none`.
  var task = TaskID.none
  /// Its resources, unless another task of the worker holds them now.
  var share: Share?
}

struct Loss {
  var complaint: String
  var node: NodeID
  /// No hello was said: nothing was started.
  var wasLaunching: Bool
  /// The worker is not replaced, and the node is not blamed.
  var isSpared: Bool
  /// No process could be created: the kind waits for one.
  var waits = false
  /// Too many workers in a row did not come up there.
  var isLastTry = false
  /// Or the task that the worker was launched for.
  var current: TaskID
  var ahead: [TaskID]
  var share: Share?
}

extension Workforce {
  func checkInvariants() -> String? {
    for index in nodes.indices {
      if let problem = check(nodes[index], NodeID(Int32(truncatingIfNeeded: index))) {
        return problem
      }
    }
    let records = living.map { workers[$0.index] }
    if workers.all.count(where: { $0.state != .gone }) != records.count {
      return "a worker lives nowhere"
    }
    for kind in WorkerKind.allCases {
      let own = records.filter { $0.kind == kind }
      if own.count != alive[kind] || own.count(where: { $0.idlePlace >= 0 }) != idle[kind]
        || own.count(where: { $0.state == .launching }) != launching[kind]
      {
        return "workers of a kind are miscounted"
      }
      if own.contains(where: { $0.ahead.count > throughputs[kind].maxPrefetched }) {
        return "a worker has too many prefetched tasks"
      }
    }
    let ahead = records.flatMap(\.ahead)
    if ahead.count != prefetchedCount {
      return "\(prefetchedCount) prefetched tasks, \(ahead.count) found"
    }
    if ahead.count(where: \.isRevoking) != revokingCount {
      return "revoked tasks are miscounted"
    }
    return watch.checkInvariants() ?? backlogs.checkInvariants(workers.all)
  }

  private func check(_ node: Node, _ id: NodeID) -> String? {
    for (place, worker) in node.workers.enumerated() {
      let record = workers[worker.index]
      if Int(record.place) != place || record.node != id { return "a worker is misplaced" }
      let isOffered = record.state == .idle && !record.isDiscarded
      if (record.idlePlace >= 0) != isOffered { return "an idle worker is in the wrong queue" }
      if isOffered, node.pools[record.kind].idle[Int(record.idlePlace)] != worker {
        return "an idle worker is misplaced"
      }
      let isHolding = !record.current.isNone || !record.ahead.isEmpty
      switch record.state {
      case .gone: return "worker \(worker.rawValue) is gone and listed"
      case .idle: if isHolding { return "an idle worker holds a task" }
      case .launching:
        if !record.ahead.isEmpty { return "a launching worker has a prefetched task" }
      case .busy: if !isHolding { return "a busy worker holds nothing" }
      }
      if isHolding != (record.share != nil) { return "a worker holds resources without a task" }
      let isListened = record.state != .launching && !record.isDiscarded && record.kind != .block
      if watch.isListenedTo(worker) != isListened { return "a worker is watched without reason" }
    }
    if node.pools[.terminal].alive > (id == .local ? 1 : 0) {
      return "more than one worker at the terminal, or one elsewhere"
    }
    for kind in WorkerKind.allCases {
      let pool = node.pools[kind]
      let own = node.workers.filter { workers[$0.index].kind == kind }
      let launching = own.count { workers[$0.index].state == .launching }
      if own.count != pool.alive || launching != pool.launching { return "a pool is miscounted" }
    }
    return nil
  }
}
