internal import OpflowPlan

/// The services of a session: which wait with their resources, are ready, or were told to end.
///
/// A service is a task that does not end by itself. It is available to its users (the tasks that
/// need it) once its own dependencies are met. A user whose other dependencies are met is then
/// ready: it takes its resources together with those of its services that do not run yet, all or
/// nothing.
///
///     (task states)        waiting ─► ready ─► running ───────► succeeded, failed, cancelled
///     (of a service here)            idle ─► taken ─► started ─► up ─► stopping ─► (gone)
///                                     ▲        │         │        │       │
///                                     └────────┴─────────┴────────┴───────┘
///
/// - *idle*: its dependencies are met, and nothing is held for it.
/// - *taken*: its share is held (`TakenTasks`) while it waits for its own services or a worker; its
///   users wait with theirs. A user that may not start any more releases its shares, and so does a
///   taken service without users.
/// - *started*: its worker has it. An end now is a failure.
/// - *up*: it has reported that it is ready, which is not checked again.
/// - *stopping*: it was told to end because it is not needed, or because a ready task lacks what it
///   holds while idle. This is never a failure. A new user waits for the end and then starts it
///   again: two at once would compete for the port.
///
/// A service is stopped after the process trees of its users are gone, other services included. An
/// unexpected end stops its running users (`service-lost`), which are retried by their own rules if
/// the service has restarts left; waiting users are ready again. A service that must start again
/// waits, with its users, for a dependency that is retried. Services and users never wait for each
/// other while they hold what the other one needs.
///
/// Remote nodes
/// ------------
///
/// A user reaches a service by its own node's address. So a service, its users, and everything
/// connected to them by services form a group (`ServiceGroups`) that is on one node at a time. A
/// group with a task bound to the local node, or with a service that stays up, is always local.
///
///     free ─► bound to a node ─► free
///                    └► stranded ───┘
///
/// - *free*: no task of the group holds anything. The first one chooses a node on which it fits
///   with its services. A demand that fits no node is limited to the largest one.
/// - *bound*: some task holds a share (`Resources.Binding`), and all others start there or wait.
/// - *stranded*: the node is leaving or quarantined, or all ready tasks of the group can only run
///   elsewhere, such as on a newer node with more GPUs or time. Running tasks finish; a service
///   without running users must end. On a silent node, which no command reaches, this waits.
///
/// Shares on a node that takes no new tasks are released at once. When a node is lost, users are
/// lost before their services, so that they are not stopped for it; this costs no attempt. When a
/// node leaves, the end of a service there is not treated as an end while up, unless it was told to
/// end.
///
/// Races, beyond those of nodes (`Machines`):
/// - Less time is left than a user needs when its services are up: its share is released, and it
///   waits for another node.
/// - A node leaves while a service starts: it has no users there, ends, and is idle.
/// - The last share is released while another node is joining: the group goes to the best node of
///   that moment.
/// - The loss of a node is reported before a service's end there: the end is ignored.
///
/// From one session to the next
/// ----------------------------
///
/// When a serving session ends because files changed (`run --watch`), unaffected services continue:
/// the process hands their workers to the next session.
///
///     up ─► passed on ┊ kept ─► up
///                     ┊  └────► stopping
///
/// - *passed on*: the session ends without them, once all else has ended. No `finally` task runs,
///   and the journal gets no `close` line: it reads like a session that died.
/// - *kept*: the next session has it and its share. Its users wait until all its dependencies are
///   found unchanged. If one runs again, the service ends first and starts again after it. Its
///   worker knows only the plan of its own session, and gets no other task.
///
/// Crashes
/// -------
///
/// - The service or its worker, before `ready` was read: like any task. The shares of users are
///   released with that report, not before.
/// - The service, while a user starts: the user is stopped if its start was journaled, else queued
///   again.
/// - The service or its worker, while passed on: the next session reads of an end while up.
/// - The coordinator: the workers end kept services, which were interrupted in either session. A
///   resume ends what is left before anything starts. A service has no result to keep.
struct Services {
  private(set) var all: [TaskID] = []
  /// No task needs these, or the user named them: they stay up, and start like tasks.
  private(set) var standing: Set<TaskID> = []
  private(set) var havePorts = false
  var taken = TakenTasks()
  var use = ServiceUse()
  var review = ServiceReview()
  /// Since the last dispatch that saw all shares.
  var hasRetracted = false
  private(set) var up: [TaskID: [UInt16]] = [:]
  private(set) var stopping: Set<TaskID> = []
  /// The lost service, by user that was told to end for it.
  private var lost: [TaskID: TaskID] = [:]
  /// These gave way to tasks, until no task is left.
  var deferred: Set<TaskID> = []
  /// Taken over; dependencies are not known to be unchanged.
  private(set) var keptOver: Set<TaskID> = []
  /// Taken over, with unchanged dependencies.
  private(set) var stayed: Set<TaskID> = []
  /// The dependency that runs again, by service.
  private(set) var outdated: [TaskID: TaskID] = [:]
  private(set) var passedOn: Set<TaskID> = []
  /// The end was requested while only services ran.
  var isLeaving = false
  /// The edge of the last user checked; all before it have ended.
  private var ended: [TaskID: Int] = [:]

  init(plan: Plan, named: TaskSet?) { add(servicesOf: plan, from: 0, named: named) }

  mutating func add(servicesOf plan: Plan, from first: Int, named: TaskSet?) {
    guard plan.hasServices else { return }
    // New matrix tasks change the edges of users.
    if plan.hasMadeInstances { countUsersAnew() }
    let new = plan.order(addedFrom: first).lazy.map { TaskID($0) }
      .filter { plan.isService($0) }
    all += new
    for service in new { review.append(service) }
    review.touchAll()
    if new.contains(where: { !plan.portNames(of: $0).isEmpty }) { havePorts = true }
    for service in new where plan.stays(service, named: named) { standing.insert(service) }
  }

  // MARK: - States

  func isUp(_ service: TaskID) -> Bool { up[service] != nil }

  mutating func noteUp(_ service: TaskID, _ ports: [UInt16]) -> Bool {
    if isUp(service) { return false }
    up[service] = ports
    taken.settle(service)
    return true
  }

  mutating func noteStopping(_ service: TaskID) { stopping.insert(service) }

  mutating func forget(_ service: TaskID) {
    up[service] = nil
    stopping.remove(service)
    stayed.remove(service)
    passedOn.remove(service)
  }

  mutating func noteLoss(of service: TaskID, by user: TaskID) { lost[user] = service }

  func hasLoss(_ user: TaskID) -> Bool { lost[user] != nil }

  mutating func takeLoss(of user: TaskID) -> TaskID? {
    lost.isEmpty ? nil : lost.removeValue(forKey: user)
  }

  // MARK: - From one session to the next

  mutating func keepOver(_ service: TaskID, _ ports: [UInt16]) {
    up[service] = ports
    keptOver.insert(service)
  }

  mutating func confirm(_ service: TaskID) {
    keptOver.remove(service)
    stayed.insert(service)
  }

  mutating func noteOutdated(_ service: TaskID, by need: TaskID) { outdated[service] = need }

  /// The dependency that ended the service.
  mutating func leaveKeptOver(_ service: TaskID) -> (wasKept: Bool, need: TaskID?) {
    (keptOver.remove(service) != nil, outdated.removeValue(forKey: service))
  }

  mutating func passOn(_ services: Set<TaskID>) { passedOn = services.filter { isUp($0) } }

  mutating func passNothingOn() { passedOn.removeAll() }

  // MARK: - Users

  mutating func firstOpenUser(of service: TaskID, _ plan: Plan, hasEnded: (TaskID) -> Bool) -> Int?
  {
    let last = ended[service]
    for edge in last.map({ plan.dependents(service, from: $0) }) ?? plan.dependents(service) {
      ended[service] = edge
      if !hasEnded(plan.dependent(edge)) { return edge }
    }
    return nil
  }

  mutating func countUsersAnew() {
    ended.removeAll()
    review.touchAll()
  }
}

/// Tasks and services whose shares are held until they start, in the order of taking.
struct TakenTasks {
  struct Entry {
    let task: TaskID
    let demandClass: Int
    let share: Share
    let kind: WorkerKind
    fileprivate let services: [TaskID]
    fileprivate let number: Int
    fileprivate var isStartable = false

    fileprivate var pool: PoolID { PoolID(node: share.node, kind: kind) }
  }

  struct PoolID: Hashable {
    let node: NodeID
    let kind: WorkerKind
  }

  private struct Queue {
    /// May contain removed entries.
    var heap = BinaryHeap<Ranked<Int, TaskID>>()
    var count = 0
  }

  private var entries: [TaskID: Entry] = [:]
  private var lastNumber = 0
  private var queues: [PoolID: Queue] = [:]
  /// Tasks that wait for a service, with its place among theirs; may contain removed tasks.
  private var behind: [TaskID: [(task: TaskID, place: Int)]] = [:]
  /// The services before the place are up.
  private var unsettled: [(task: TaskID, place: Int)] = []

  var isEmpty: Bool { entries.isEmpty }

  var all: [Entry] { entries.values.sorted { $0.number < $1.number } }

  subscript(task: TaskID) -> Entry? { entries[task] }

  mutating func append(
    _ task: TaskID, demandClass: Int, _ share: Share, kind: WorkerKind, having services: [TaskID]
  ) {
    lastNumber += 1
    entries[task] = Entry(
      task: task, demandClass: demandClass, share: share, kind: kind, services: services,
      number: lastNumber)
    unsettled.append((task, 0))
  }

  func services(of task: TaskID) -> [TaskID] { entries[task]?.services ?? [] }

  mutating func remove(_ task: TaskID) -> Entry? {
    guard let entry = entries.removeValue(forKey: task) else { return nil }
    if entry.isStartable { leaveQueue(entry.pool) }
    return entry
  }

  // MARK: - Waiting

  mutating func takeUnsettled() -> [(task: TaskID, place: Int)] {
    defer { unsettled.removeAll() }
    return unsettled
  }

  mutating func wait(_ task: TaskID, for service: TaskID, at place: Int) {
    guard let entry = entries[task] else { return }
    if entry.isStartable { leaveQueue(entry.pool) }
    entries[task]?.isStartable = false
    behind[service, default: []].append((task, place))
  }

  mutating func waitForWorker(_ task: TaskID) {
    guard let entry = entries[task], !entry.isStartable else { return }
    entries[task]?.isStartable = true
    queues[entry.pool, default: Queue()].heap.push(Ranked(rank: entry.number, value: task))
    queues[entry.pool]?.count += 1
  }

  mutating func settle(_ service: TaskID) {
    if let tasks = behind.removeValue(forKey: service) { unsettled += tasks }
  }

  private mutating func leaveQueue(_ pool: PoolID) {
    queues[pool]?.count -= 1
    if queues[pool]?.count == 0 { queues[pool] = nil }
  }

  // MARK: - Starting

  /// Entries there lack only a worker.
  var pools: [PoolID] {
    queues.keys.sorted {
      ($0.node.rawValue, $0.kind.rawValue) < ($1.node.rawValue, $1.kind.rawValue)
    }
  }

  func count(of pool: PoolID) -> Int { queues[pool]?.count ?? 0 }

  mutating func first(of pools: [PoolID]) -> Entry? {
    var first: Entry?
    for pool in pools {
      guard let entry = self.first(of: pool) else { continue }
      if first.map({ entry.number < $0.number }) ?? true { first = entry }
    }
    return first
  }

  private mutating func first(of pool: PoolID) -> Entry? {
    while let place = queues[pool]?.heap.first {
      if let entry = entries[place.value], entry.isStartable, entry.number == place.rank {
        return entry
      }
      _ = queues[pool]?.heap.pop()
    }
    return nil
  }
}

/// Services with a worker or a share, and the number of their direct users with one.
struct ServiceUse {
  private var users: [TaskID: Int] = [:]
  private var held: Set<TaskID> = []
  private(set) var workers: [TaskID: WorkerID] = [:]
  /// Held without held users.
  private(set) var idleStanding: Set<TaskID> = []
  private(set) var idle: Set<TaskID> = []

  /// Users with a worker or a share.
  func users(of service: TaskID) -> Int { users[service] ?? 0 }

  /// The task, which may be a service, has a share.
  mutating func hold(_ task: TaskID, _ kind: Kind, having services: [TaskID]) {
    for service in services {
      users[service, default: 0] += 1
      setIdle(service, nil)
    }
    guard kind != .task else { return }
    held.insert(task)
    if users(of: task) == 0 { setIdle(task, kind) }
  }

  enum Kind { case task, service, standingService }

  mutating func noteWorker(_ worker: WorkerID, of service: TaskID) { workers[service] = worker }

  /// The task has neither a share nor a worker.
  mutating func release(_ task: TaskID, having services: [TaskID], kind: (TaskID) -> Kind) {
    workers[task] = nil
    held.remove(task)
    setIdle(task, nil)
    for service in services {
      let count = users(of: service) - 1
      users[service] = count > 0 ? count : nil
      if count == 0, held.contains(service) { setIdle(service, kind(service)) }
    }
  }

  private mutating func setIdle(_ service: TaskID, _ kind: Kind?) {
    if kind == .standingService {
      idleStanding.insert(service)
    } else if kind == .service {
      idle.insert(service)
    } else {
      idle.remove(service)
      idleStanding.remove(service)
    }
  }
}

/// Something has changed that decides if these services are needed.
struct ServiceReview {
  struct Conditions: Equatable {
    var phase: Phase
    var isAtRest: Bool
    var isLeaving: Bool
    var passedOn: Set<TaskID>
    var keptOver: Set<TaskID>
  }

  private var services: [TaskID] = []
  private var places: [TaskID: Int32] = [:]
  /// Negative topological places: users come before their services.
  private var open = BinaryHeap<Int32>()
  private var isOpen: [Bool] = []
  private var conditions: Conditions?
  /// As of their last review.
  private(set) var needed: Set<TaskID> = []

  mutating func append(_ service: TaskID) {
    places[service] = Int32(truncatingIfNeeded: services.count)
    services.append(service)
    isOpen.append(false)
  }

  mutating func touch(_ service: TaskID) {
    guard let place = places[service], !isOpen[Int(place)] else { return }
    isOpen[Int(place)] = true
    open.push(-place)
  }

  mutating func touchAll() { conditions = nil }

  mutating func note(_ now: Conditions) {
    if now == conditions { return }
    conditions = now
    for service in services { touch(service) }
  }

  func isDone(under now: Conditions) -> Bool { now == conditions && open.count == 0 }

  mutating func next() -> TaskID? {
    guard let place = open.pop() else { return nil }
    isOpen[Int(-place)] = false
    return services[Int(-place)]
  }

  mutating func note(_ service: TaskID, isNeeded: Bool) -> Bool {
    isNeeded ? needed.insert(service).inserted : needed.remove(service) != nil
  }
}
