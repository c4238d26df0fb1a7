internal import OpflowPlan

/// Tasks and services whose shares are held until they start, in the order of taking.
struct TakenTasks {
  struct Entry {
    let task: TaskID
    let lane: Int
    let share: Share
    let kind: WorkerKind
    fileprivate let services: [TaskID]
    fileprivate let number: Int
    fileprivate var isStartable = false

    fileprivate var crew: CrewID { CrewID(site: share.site, kind: kind) }
  }

  struct CrewID: Hashable {
    let site: SiteID
    let kind: WorkerKind
  }

  private struct Queue {
    /// By number; may contain removed entries.
    var heap = BinaryHeap<Ranked<Int, TaskID>>()
    var count = 0
  }

  private var entries: [TaskID: Entry] = [:]
  private var lastNumber = 0
  /// They wait for a worker.
  private var queues: [CrewID: Queue] = [:]
  /// They wait for a service, with its place among theirs; may contain removed ones.
  private var behind: [TaskID: [(task: TaskID, place: Int)]] = [:]
  /// Still to be classified; the services before the place are up.
  private var unsettled: [(task: TaskID, place: Int)] = []

  var isEmpty: Bool { entries.isEmpty }

  var all: [Entry] { entries.values.sorted { $0.number < $1.number } }

  subscript(task: TaskID) -> Entry? { entries[task] }

  mutating func append(
    _ task: TaskID, lane: Int, _ share: Share, kind: WorkerKind, having services: [TaskID]
  ) {
    lastNumber += 1
    entries[task] = Entry(
      task: task, lane: lane, share: share, kind: kind, services: services, number: lastNumber)
    unsettled.append((task, 0))
  }

  func services(of task: TaskID) -> [TaskID] { entries[task]?.services ?? [] }

  mutating func remove(_ task: TaskID) -> Entry? {
    guard let entry = entries.removeValue(forKey: task) else { return nil }
    if entry.isStartable { leaveQueue(entry.crew) }
    return entry
  }

  // MARK: - Waiting

  mutating func takeUnsettled() -> [(task: TaskID, place: Int)] {
    defer { unsettled.removeAll() }
    return unsettled
  }

  mutating func wait(_ task: TaskID, for service: TaskID, at place: Int) {
    guard let entry = entries[task] else { return }
    if entry.isStartable { leaveQueue(entry.crew) }
    entries[task]?.isStartable = false
    behind[service, default: []].append((task, place))
  }

  mutating func waitForWorker(_ task: TaskID) {
    guard let entry = entries[task], !entry.isStartable else { return }
    entries[task]?.isStartable = true
    queues[entry.crew, default: Queue()].heap.push(Ranked(rank: entry.number, value: task))
    queues[entry.crew]?.count += 1
  }

  /// The service is up, or has ended.
  mutating func settle(_ service: TaskID) {
    if let tasks = behind.removeValue(forKey: service) { unsettled += tasks }
  }

  private mutating func leaveQueue(_ crew: CrewID) {
    queues[crew]?.count -= 1
    if queues[crew]?.count == 0 { queues[crew] = nil }
  }

  // MARK: - Starting

  /// With entries that lack only a worker.
  var crews: [CrewID] {
    queues.keys.sorted {
      ($0.site.rawValue, $0.kind.rawValue) < ($1.site.rawValue, $1.kind.rawValue)
    }
  }

  func count(of crew: CrewID) -> Int { queues[crew]?.count ?? 0 }

  mutating func first(of crews: [CrewID]) -> Entry? {
    var first: Entry?
    for crew in crews {
      guard let entry = self.first(of: crew) else { continue }
      if first.map({ entry.number < $0.number }) ?? true { first = entry }
    }
    return first
  }

  private mutating func first(of crew: CrewID) -> Entry? {
    while let place = queues[crew]?.heap.first {
      if let entry = entries[place.value], entry.isStartable, entry.number == place.rank {
        return entry
      }
      _ = queues[crew]?.heap.pop()
    }
    return nil
  }
}
