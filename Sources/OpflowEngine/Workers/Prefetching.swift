internal import OpflowPlan

/// Decides the number of workers, and of prefetched tasks.
struct Throughput {
  let maxPrefetched: Int
  /// The most work to prefetch beyond one task; nil for any.
  let prefetchedMicroseconds: Int64?
  /// A moving mean.
  private(set) var meanWallMicroseconds: Int64
  private var lastEnd: Instant?
  /// Add workers only if running tasks do not end: a launch takes longer than many small downloads.
  let growsWhenSlow: Bool
  /// Slow from then on, if no task ends before.
  private(set) var slowFrom: Instant?
  private(set) var isSlow = false

  init(
    maxPrefetched: Int, prefetchedMicroseconds: Int64? = nil, growsWhenSlow: Bool = false,
    expectedWall: Int64
  ) {
    self.maxPrefetched = maxPrefetched
    self.prefetchedMicroseconds = prefetchedMicroseconds
    self.growsWhenSlow = growsWhenSlow
    meanWallMicroseconds = expectedWall
  }

  func wantsMore(alive: Int) -> Bool { !growsWhenSlow || alive == 0 || isSlow }

  /// Per worker, while `ready` others wait.
  func prefetchedNow(ready: Int, alive: Int) -> Int {
    guard meanWallMicroseconds < SchedulerOptions.shortTaskMicroseconds else { return 0 }
    guard let work = prefetchedMicroseconds else { return maxPrefetched }
    // Leave half for workers that become idle.
    let share = ready / max(2 * alive, 1)
    let depth = min(Int(work / max(meanWallMicroseconds, 1)), share)
    return min(max(depth, 1), maxPrefetched)
  }

  /// Waits for the next launch again: many at once slow a busy machine further.
  mutating func noteLaunch(at now: Instant) {
    guard isSlow else { return }
    isSlow = false
    noteStart(at: now)
  }

  mutating func noteStart(at now: Instant) {
    guard growsWhenSlow, !isSlow, slowFrom == nil else { return }
    slowFrom = now.advanced(byMilliseconds: SchedulerOptions.shortTaskMicroseconds / 1000)
  }

  /// - Parameter busy: Includes the worker whose task ended.
  mutating func noteEnd(wallMicroseconds wall: Int64, alive: Int, busy: Int, at now: Instant) {
    meanWallMicroseconds += (share(of: wall, alive: alive, at: now) - meanWallMicroseconds) / 8
    slowFrom = nil
    isSlow = false
    if busy > 1 { noteStart(at: now) }
  }

  /// A download worker runs several at once: a slow one says little about its throughput.
  private mutating func share(of wall: Int64, alive: Int, at now: Instant) -> Int64 {
    guard growsWhenSlow else { return wall }
    defer { lastEnd = now }
    // The first measurement replaces the assumption.
    guard let lastEnd else {
      meanWallMicroseconds = min(wall, Self.longMicroseconds)
      return meanWallMicroseconds
    }
    return min(wall, (now.nanoseconds - lastEnd.nanoseconds) / 1000 * Int64(max(alive, 1)))
  }

  /// Returns true if the kind has just become slow; its tasks are then long until some are short.
  mutating func noteTime(_ now: Instant) -> Bool {
    guard let due = slowFrom, due <= now else { return false }
    slowFrom = nil
    isSlow = true
    meanWallMicroseconds = max(meanWallMicroseconds, Self.longMicroseconds)
    return true
  }

  /// Bounded, so that a few short tasks change the mean.
  static let longMicroseconds = SchedulerOptions.shortTaskMicroseconds * 2
}

/// Finds the shortest and the longest backlog without a scan.
struct Backlogs {
  private var demandClasses: [[[WorkerID]]]
  private var depths = ByKind<[Int]> { _ in [] }
  private var counts = ByKind { _ in 0 }
  private var totals: [Int32]
  private(set) var classesPrefetched: [Int] = []

  /// False in a run without prefetching: nothing is recorded.
  private let isKept: Bool

  init(classCount: Int, isKept: Bool) {
    self.isKept = isKept
    demandClasses = Array(repeating: [], count: classCount)
    totals = Array(repeating: 0, count: classCount)
  }

  mutating func grow(to classCount: Int) {
    while demandClasses.count < classCount {
      demandClasses.append([])
      totals.append(0)
    }
  }

  func worker(demandClass: Int, depth: Int, place: Int) -> WorkerID? {
    guard depth < demandClasses[demandClass].count, place < demandClasses[demandClass][depth].count
    else { return nil }
    return demandClasses[demandClass][depth][place]
  }

  func workers(demandClass: Int, depth: Int) -> [WorkerID] {
    depth < demandClasses[demandClass].count ? demandClasses[demandClass][depth] : []
  }

  func deepest(demandClass: Int) -> Int? { demandClasses[demandClass].lastIndex { !$0.isEmpty } }

  func count(of kind: WorkerKind) -> Int { counts[kind] }

  func least(of kind: WorkerKind) -> Int? {
    depths[kind].firstIndex { $0 > 0 }
  }

  @inline(__always)
  mutating func update(_ worker: WorkerID, in records: inout Table<WorkerRecord>) {
    if isKept { place(worker, in: &records) }
  }

  private mutating func place(_ worker: WorkerID, in records: inout Table<WorkerRecord>) {
    let isIn = records[worker.index].backlogPlace >= 0
    let depth = records[worker.index].ahead.count
    let belongs = records[worker.index].mayHaveMore
    if isIn, belongs, records[worker.index].backlogDepth == depth,
      records[worker.index].backlogClass == records[worker.index].demandClass
    {
      return
    }
    if isIn { remove(worker, in: &records) }
    if belongs { insert(worker, depth: depth, in: &records) }
  }

  private mutating func insert(
    _ worker: WorkerID, depth: Int, in records: inout Table<WorkerRecord>
  ) {
    let demandClass = Int(records[worker.index].demandClass)
    let kind = records[worker.index].kind
    while demandClasses[demandClass].count <= depth { demandClasses[demandClass].append([]) }
    while depths[kind].count <= depth { depths[kind].append(0) }
    records[worker.index].backlogPlace = Int32(
      truncatingIfNeeded: demandClasses[demandClass][depth].count)
    records[worker.index].backlogClass = Int32(truncatingIfNeeded: demandClass)
    records[worker.index].backlogDepth = Int32(truncatingIfNeeded: depth)
    demandClasses[demandClass][depth].append(worker)
    depths[kind][depth] += 1
    counts[kind] += 1
    if depth > 0 { change(demandClass, by: Int32(truncatingIfNeeded: depth)) }
  }

  private mutating func remove(_ worker: WorkerID, in records: inout Table<WorkerRecord>) {
    let demandClass = Int(records[worker.index].backlogClass)
    let kind = records[worker.index].kind
    let depth = Int(records[worker.index].backlogDepth)
    let place = Int(records[worker.index].backlogPlace)
    records[worker.index].backlogPlace = -1
    depths[kind][depth] -= 1
    counts[kind] -= 1
    if let moved = demandClasses[demandClass][depth].removeBySwapping(at: place) {
      records[moved.index].backlogPlace = Int32(truncatingIfNeeded: place)
    }
    if depth > 0 { change(demandClass, by: -Int32(truncatingIfNeeded: depth)) }
  }

  private mutating func change(_ demandClass: Int, by count: Int32) {
    if totals[demandClass] == 0 { classesPrefetched.append(demandClass) }
    totals[demandClass] += count
    if totals[demandClass] == 0, let place = classesPrefetched.firstIndex(of: demandClass) {
      _ = classesPrefetched.removeBySwapping(at: place)
    }
  }

  func checkInvariants(_ records: [WorkerRecord]) -> String? {
    var found = 0
    for (demandClass, depths) in demandClasses.enumerated() {
      for (depth, workers) in depths.enumerated() {
        for (place, worker) in workers.enumerated() {
          let record = records[worker.index]
          if !record.mayHaveMore || Int(record.demandClass) != demandClass
            || record.ahead.count != depth || Int(record.backlogPlace) != place
          {
            return "worker \(worker.rawValue) is in the wrong queue"
          }
          found += 1
        }
      }
      let total = depths.enumerated().reduce(0) { $0 + $1.offset * $1.element.count }
      if total != totals[demandClass] || (total > 0) != classesPrefetched.contains(demandClass) {
        return "prefetched tasks of a demand class are miscounted"
      }
    }
    if found != WorkerKind.allCases.reduce(0, { $0 + counts[$1] }) {
      return "workers that may have more are miscounted"
    }
    if !isKept { return nil }
    return records.count { $0.mayHaveMore } == found ? nil : "a worker is offered nothing more"
  }
}
