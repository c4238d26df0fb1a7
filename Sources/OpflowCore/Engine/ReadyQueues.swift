/// The ready tasks, one heap per demand class: its tasks fit or do not fit together, so a pass
/// looks at one head per class. The pass takes the best class, and pops its head or sets the class
/// aside until `unblock`.
struct ReadyQueues {
  /// The ranks of ready tasks, by class.
  private var lanes = Table<BinaryHeap<Int32>>()
  /// Classes with tasks that are not set aside, by rank.
  private var heads: IndexedHeap<Int32>
  /// The classes set aside, in the order of their heads.
  private var blocked: [Int32] = []
  private(set) var count = 0

  init(laneCount: Int) {
    heads = IndexedHeap(count: laneCount)
    grow(to: laneCount)
  }

  mutating func grow(to laneCount: Int) {
    while lanes.count < laneCount { lanes.append(BinaryHeap()) }
  }

  @inline(__always)
  var best: (lane: Int, rank: Int32)? {
    guard let (lane, rank) = heads.first else { return nil }
    return (lane, rank)
  }

  func head(_ lane: Int) -> Int32? { lanes[lane].first }

  var first: Int32? {
    let open = heads.first?.key ?? .max
    // Prefetching may have emptied it.
    let full = blocked.first { lanes[Int($0)].first != nil }
    let aside = full.flatMap { lanes[Int($0)].first } ?? .max
    return count > 0 ? min(open, aside) : nil
  }

  mutating func block() {
    guard let (lane, _) = heads.first else { return }
    heads.remove(lane)
    blocked.append(Int32(truncatingIfNeeded: lane))
  }

  var blockedCount: Int { blocked.count }

  mutating func unblock() {
    while let lane = blocked.popLast() { stand(Int(lane)) }
  }

  mutating func push(_ rank: Int32, lane: Int) {
    count += 1
    lanes[lane].push(rank)
    guard lanes[lane].first == rank else { return }
    if heads.contains(lane) || !blocked.contains(Int32(truncatingIfNeeded: lane)) { stand(lane) }
  }

  mutating func pop(_ lane: Int) -> Int32? {
    guard let rank = lanes[lane].pop() else { return nil }
    count -= 1
    if heads.contains(lane) { stand(lane) }
    return rank
  }

  /// Removes a task from its class, which may be set aside.
  mutating func take(_ rank: Int32, lane: Int) {
    count -= lanes[lane].remove { $0 == rank }
    if heads.contains(lane) { stand(lane) }
  }

  /// Removes tasks with one scan of their classes, none of which may be set aside.
  mutating func remove(_ ranks: Set<Int32>, of lanes: Set<Int>) {
    for lane in lanes {
      count -= self.lanes[lane].remove { ranks.contains($0) }
      stand(lane)
    }
  }

  private mutating func stand(_ lane: Int) {
    if let rank = lanes[lane].first { heads.set(lane, to: rank) } else { heads.remove(lane) }
  }

  /// Removes and returns all tasks, unordered; no class may be set aside.
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

  var ranks: [Int32] { lanes.indices.flatMap { lanes[$0].elements } }

  /// Checks what holds between passes, when no class is set aside.
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
