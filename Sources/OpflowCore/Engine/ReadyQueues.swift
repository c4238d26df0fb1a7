/// The ready tasks, one heap for each lane: tasks that want the same on the same machines fit or do
/// not fit together, so a pass over the lanes looks at one head for each, not at every task.
///
/// The lanes themselves stand in a heap by their heads. A pass takes the best one after the other: it
/// pops its head, or sets the whole lane aside until `unblock`.
struct ReadyQueues {
  /// Ranks of tasks.
  private var lanes = Table<BinaryHeap<Int32>>()
  /// Lanes with a task that are not set aside, by the rank of their heads.
  private var heads: IndexedHeap<Int32>
  /// Lanes set aside, in the order of their heads.
  private var blocked: [Int32] = []
  private(set) var count = 0

  init(laneCount: Int) {
    heads = IndexedHeap(count: laneCount)
    grow(to: laneCount)
  }

  /// There are lanes more.
  mutating func grow(to laneCount: Int) {
    while lanes.count < laneCount { lanes.append(BinaryHeap()) }
  }

  /// The lane whose first task comes before all others, of those not set aside, and its rank.
  @inline(__always)
  var best: (lane: Int, rank: Int32)? {
    guard let (lane, rank) = heads.first else { return nil }
    return (lane, rank)
  }

  /// The rank of the first task of a lane.
  func head(_ lane: Int) -> Int32? { lanes[lane].first }

  /// The rank of the first task of all.
  var first: Int32? {
    let open = heads.first?.key ?? .max
    // What was handed ahead from a lane that is set aside may have left it empty.
    let full = blocked.first { lanes[Int($0)].first != nil }
    let aside = full.flatMap { lanes[Int($0)].first } ?? .max
    return count > 0 ? min(open, aside) : nil
  }

  /// Sets the best lane aside.
  mutating func block() {
    guard let (lane, _) = heads.first else { return }
    heads.remove(lane)
    blocked.append(Int32(truncatingIfNeeded: lane))
  }

  /// How many lanes are set aside.
  var blockedCount: Int { blocked.count }

  /// Takes all lanes back that were set aside.
  mutating func unblock() {
    while let lane = blocked.popLast() { stand(Int(lane)) }
  }

  mutating func push(_ rank: Int32, lane: Int) {
    count += 1
    lanes[lane].push(rank)
    guard lanes[lane].first == rank else { return }
    if heads.contains(lane) || !blocked.contains(Int32(truncatingIfNeeded: lane)) { stand(lane) }
  }

  /// Takes the first task of a lane, which is the best one or set aside.
  mutating func pop(_ lane: Int) -> Int32? {
    guard let rank = lanes[lane].pop() else { return nil }
    count -= 1
    if heads.contains(lane) { stand(lane) }
    return rank
  }

  /// Takes one out wherever it stands in its lane, which may be set aside.
  mutating func take(_ rank: Int32, lane: Int) {
    count -= lanes[lane].remove { $0 == rank }
    if heads.contains(lane) { stand(lane) }
  }

  /// Takes tasks out, in a look at all of those lanes. No lane may be set aside.
  mutating func remove(_ ranks: Set<Int32>, of lanes: Set<Int>) {
    for lane in lanes {
      count -= self.lanes[lane].remove { ranks.contains($0) }
      stand(lane)
    }
  }

  /// Puts a lane where its head belongs.
  private mutating func stand(_ lane: Int) {
    if let rank = lanes[lane].first { heads.set(lane, to: rank) } else { heads.remove(lane) }
  }

  /// Takes out every task, in no order. No lane may be set aside.
  mutating func removeAll() -> [Int32] {
    var all: [Int32] = []
    all.reserveCapacity(count)
    for lane in heads.numbers {
      all += lanes[lane].elements
      lanes[lane].removeAll()
    }
    heads.removeAll()
    count = 0
    return all
  }

  /// Every ready rank, in no order. For checks.
  var ranks: [Int32] { lanes.indices.flatMap { lanes[$0].elements } }

  /// What is wrong with it; nil when nothing is. Between passes, when no lane is set aside.
  func checkInvariants() -> String? {
    if !blocked.isEmpty { return "a lane is set aside beyond its pass" }
    if ranks.count != count { return "ready tasks are miscounted" }
    for lane in lanes.indices where lanes[lane].first != nil && !heads.contains(lane) {
      return "a lane with tasks stands nowhere"
    }
    return heads.checkInvariants()
  }
}

extension Int32: HeapElement {
  func isBefore(_ other: Int32) -> Bool { self < other }
}
