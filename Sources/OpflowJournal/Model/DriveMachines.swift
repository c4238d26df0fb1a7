package import OpflowPlan
package import OpflowWire

/// The nodes of a running session and the tasks on them.
package struct DriveMachines {
  package struct Machine {
    package let site: SiteID
    package let host: String
    package let cores: UInt64
    package var state: SiteState

    init(_ offer: SiteEntry, _ state: SiteState) {
      site = offer.site
      host = offer.host
      cores = offer.cores
      self.state = state
    }

    var isInUse: Bool { state.isInUse }
  }

  package private(set) var all: [Machine] = []
  private var workers: [WorkerID: SiteID] = [:]
  /// Not for tasks on the coordinator's host.
  private var places: [TaskID: SiteID] = [:]
  private var cut: [SiteID: [TaskID]] = [:]
  package private(set) var awaited: [Int: String] = [:]

  init() {}

  /// Joins a running session.
  ///
  /// - Parameter begun: the tasks that run or are prefetched.
  init(joining history: RunModel, begun: some Sequence<TaskID>) {
    let records = history.sites.all
    for record in history.sites.of(drive: history.drives) {
      all.append(Machine(record.offer, record.state))
    }
    if all.isEmpty { return }
    for (worker, record) in history.workerSites.current { workers[worker] = records[record].site }
    for task in begun { places[task] = history.site(of: task)?.site }
  }

  package var areThere: Bool { !all.isEmpty }

  package var hostsInUse: [String] {
    var seen: Set<String> = []
    return all.filter(\.isInUse).map(\.host).filter { seen.insert($0).inserted }
  }

  package var coresInUse: UInt64 { all.reduce(0) { $1.isInUse ? $0 &+ $1.cores : $0 } }

  package subscript(site: SiteID) -> Machine? {
    // Nodes are numbered as they join, unless journal lines are lost.
    let place = site.index - 1
    if all.indices.contains(place), all[place].site == site { return all[place] }
    return all.first { $0.site == site }
  }

  /// The last one; nil for the coordinator's host.
  package func machine(of task: TaskID) -> Machine? {
    places.isEmpty ? nil : places[task].flatMap { self[$0] }
  }

  /// The end of its node is reported in place of the task's own.
  package func isToldWithMachine(_ task: TaskID) -> Bool {
    guard let machine = machine(of: task) else { return false }
    return machine.state == .leaving || machine.state == .lost
  }

  /// Running tasks, and those interrupted before because the node was leaving.
  package func tasks(lostWith site: SiteID, running: some Sequence<TaskID>) -> [TaskID] {
    (cut[site] ?? []) + running.filter { places[$0] == site }
  }

  mutating func lose(_ task: TaskID) {
    guard let machine = machine(of: task), machine.state == .leaving else { return }
    cut[machine.site, default: []].append(task)
  }

  package mutating func apply(_ entry: SiteEntry) {
    if let place = all.firstIndex(where: { $0.site == entry.site }) {
      all[place].state = entry.state
    } else {
      all.append(Machine(entry, entry.state))
    }
  }

  package mutating func apply(_ worker: WorkerEntry) {
    if worker.site != .local { workers[worker.worker] = worker.site }
  }

  mutating func start(_ task: TaskID, _ worker: WorkerID) {
    if workers.isEmpty { return }
    // A prefetched task's start does not name the worker.
    if worker != .none { places[task] = workers[worker] }
  }

  /// `what` is nil if opflow no longer waits there. Returns whether this is new.
  package mutating func wait(_ place: Int, for what: String?) -> Bool {
    if awaited[place] == what { return false }
    awaited[place] = what
    return true
  }
}
