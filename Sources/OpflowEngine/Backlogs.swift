internal import OpflowPlan

/// Busy workers that can be given prefetched tasks: finds the shortest and the longest backlog
/// without a scan.
struct Backlogs {
  /// By demand class and number of prefetched tasks.
  private var lanes: [[[WorkerID]]]
  /// By number of prefetched tasks.
  private var depths = ByKind<[Int]> { _ in [] }
  private var counts = ByKind { _ in 0 }
  /// The prefetched tasks of each demand class.
  private var totals: [Int32]
  private(set) var lanesAhead: [Int] = []

  /// False in a run without prefetching: nothing is recorded.
  private let isKept: Bool

  init(laneCount: Int, isKept: Bool) {
    self.isKept = isKept
    lanes = Array(repeating: [], count: laneCount)
    totals = Array(repeating: 0, count: laneCount)
  }

  mutating func grow(to laneCount: Int) {
    while lanes.count < laneCount {
      lanes.append([])
      totals.append(0)
    }
  }

  func worker(lane: Int, depth: Int, place: Int) -> WorkerID? {
    guard depth < lanes[lane].count, place < lanes[lane][depth].count else { return nil }
    return lanes[lane][depth][place]
  }

  func workers(lane: Int, depth: Int) -> [WorkerID] {
    depth < lanes[lane].count ? lanes[lane][depth] : []
  }

  func deepest(lane: Int) -> Int? { lanes[lane].lastIndex { !$0.isEmpty } }

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
      records[worker.index].backlogLane == records[worker.index].lane
    {
      return
    }
    if isIn { remove(worker, in: &records) }
    if belongs { insert(worker, depth: depth, in: &records) }
  }

  private mutating func insert(
    _ worker: WorkerID, depth: Int, in records: inout Table<WorkerRecord>
  ) {
    let lane = Int(records[worker.index].lane)
    let kind = records[worker.index].kind
    while lanes[lane].count <= depth { lanes[lane].append([]) }
    while depths[kind].count <= depth { depths[kind].append(0) }
    records[worker.index].backlogPlace = Int32(truncatingIfNeeded: lanes[lane][depth].count)
    records[worker.index].backlogLane = Int32(truncatingIfNeeded: lane)
    records[worker.index].backlogDepth = Int32(truncatingIfNeeded: depth)
    lanes[lane][depth].append(worker)
    depths[kind][depth] += 1
    counts[kind] += 1
    if depth > 0 { change(lane, by: Int32(truncatingIfNeeded: depth)) }
  }

  private mutating func remove(_ worker: WorkerID, in records: inout Table<WorkerRecord>) {
    let lane = Int(records[worker.index].backlogLane)
    let kind = records[worker.index].kind
    let depth = Int(records[worker.index].backlogDepth)
    let place = Int(records[worker.index].backlogPlace)
    records[worker.index].backlogPlace = -1
    depths[kind][depth] -= 1
    counts[kind] -= 1
    if let moved = lanes[lane][depth].removeBySwapping(at: place) {
      records[moved.index].backlogPlace = Int32(truncatingIfNeeded: place)
    }
    if depth > 0 { change(lane, by: -Int32(truncatingIfNeeded: depth)) }
  }

  private mutating func change(_ lane: Int, by count: Int32) {
    if totals[lane] == 0 { lanesAhead.append(lane) }
    totals[lane] += count
    if totals[lane] == 0, let place = lanesAhead.firstIndex(of: lane) {
      _ = lanesAhead.removeBySwapping(at: place)
    }
  }

  func checkInvariants(_ records: [WorkerRecord]) -> String? {
    var found = 0
    for (lane, depths) in lanes.enumerated() {
      for (depth, workers) in depths.enumerated() {
        for (place, worker) in workers.enumerated() {
          let record = records[worker.index]
          if !record.mayHaveMore || Int(record.lane) != lane || record.ahead.count != depth
            || Int(record.backlogPlace) != place
          {
            return "worker \(worker.rawValue) is offered more where it does not belong"
          }
          found += 1
        }
      }
      let total = depths.enumerated().reduce(0) { $0 + $1.offset * $1.element.count }
      if total != totals[lane] || (total > 0) != lanesAhead.contains(lane) {
        return "what was handed ahead of a lane is miscounted"
      }
    }
    if found != WorkerKind.allCases.reduce(0, { $0 + counts[$1] }) {
      return "workers that may have more are miscounted"
    }
    if !isKept { return nil }
    return records.count { $0.mayHaveMore } == found ? nil : "a worker is offered nothing more"
  }
}
