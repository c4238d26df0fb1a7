/// The further machines of a drive as it goes, and what runs where.
struct DriveMachines {
  struct Machine {
    let site: SiteID
    let host: String
    let cores: UInt64
    var state: SiteState

    /// - Parameter offer: as it joined.
    init(_ offer: SiteEntry, _ state: SiteState) {
      site = offer.site
      host = offer.host
      cores = offer.cores
      self.state = state
    }

    /// Tasks start there.
    var isInUse: Bool { state.isInUse }
  }

  /// In the order in which they joined.
  private(set) var all: [Machine] = []
  private var workers: [WorkerID: SiteID] = [:]
  /// Where each task runs, or ran last; nothing of the coordinator's machine.
  private var places: [TaskID: SiteID] = [:]
  /// By machine that is about to go: the tasks that were cut short by that.
  private var cut: [SiteID: [TaskID]] = [:]
  /// What is waited for so that machines come, in words; each has its place.
  private(set) var awaited: [Int: String] = [:]

  init() {}

  /// Of a drive that goes on already.
  ///
  /// - Parameter begun: what runs, or was handed ahead.
  init(joining history: RunModel, begun: some Sequence<TaskID>) {
    let records = history.sites.all
    for record in history.sites.of(drive: history.drives) {
      all.append(Machine(record.offer, record.state))
    }
    if all.isEmpty { return }
    for (worker, record) in history.workerSites.current { workers[worker] = records[record].site }
    for task in begun { places[task] = history.site(of: task)?.site }
  }

  /// Whether the drive has, or had, any.
  var areThere: Bool { !all.isEmpty }

  /// Of those in use, each machine once.
  var hostsInUse: [String] {
    var seen: Set<String> = []
    return all.filter(\.isInUse).map(\.host).filter { seen.insert($0).inserted }
  }

  /// Of those in use, together.
  var coresInUse: UInt64 { all.reduce(0) { $1.isInUse ? $0 &+ $1.cores : $0 } }

  subscript(site: SiteID) -> Machine? {
    // They are numbered as they join, unless lines of the journal are lost.
    let place = site.index - 1
    if all.indices.contains(place), all[place].site == site { return all[place] }
    return all.first { $0.site == site }
  }

  /// Where a task runs, or ran last; nil for the coordinator's machine.
  func machine(of task: TaskID) -> Machine? {
    places.isEmpty ? nil : places[task].flatMap { self[$0] }
  }

  /// Whether its end is told with that of its machine, once for all that ran there.
  func isToldWithMachine(_ task: TaskID) -> Bool {
    guard let machine = machine(of: task) else { return false }
    return machine.state == .leaving || machine.state == .lost
  }

  /// What a machine took with it, of what ran there to the end and what was cut short before.
  func tasks(lostWith site: SiteID, running: some Sequence<TaskID>) -> [TaskID] {
    (cut[site] ?? []) + running.filter { places[$0] == site }
  }

  /// A task was lost with its worker.
  mutating func lose(_ task: TaskID) {
    guard let machine = machine(of: task), machine.state == .leaving else { return }
    cut[machine.site, default: []].append(task)
  }

  mutating func apply(_ entry: SiteEntry) {
    if let place = all.firstIndex(where: { $0.site == entry.site }) {
      all[place].state = entry.state
    } else {
      all.append(Machine(entry, entry.state))
    }
  }

  mutating func apply(_ worker: WorkerEntry) {
    if worker.site != .local { workers[worker.worker] = worker.site }
  }

  /// A task begins, or is handed ahead.
  mutating func start(_ task: TaskID, _ worker: WorkerID) {
    if workers.isEmpty { return }
    // Who begins with what it was handed ahead was told of before.
    if worker != .none { places[task] = workers[worker] }
  }

  /// - Parameter what: nil: nothing is waited for there any more.
  /// - Returns: whether that was not known.
  mutating func wait(_ place: Int, for what: String?) -> Bool {
    if awaited[place] == what { return false }
    awaited[place] = what
    return true
  }
}
