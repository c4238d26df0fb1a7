/// The ready tasks, one heap per demand class: its tasks fit or do not fit together, so a pass
/// looks at one head per class. It takes the best class, and pops its head or sets the class aside
/// until `unblock`.
///
/// A class with services wants other amounts as soon as one of them runs. Of classes that want the
/// same, passes look at the best alone (the *leader*): if it does not fit, none does. The others
/// follow until it leaves, or until one of their own services begins or ends (`wake`).
package struct ReadyQueues {
  /// Classes with the same want fit or do not fit together.
  struct Want: Hashable {
    /// By resource.
    let amounts: [UInt64]
    /// Services that stay up reserve nothing, and must not lead tasks.
    let isService: Bool
  }

  private struct Group {
    var leader: Int
    /// By the ranks of their heads; some may not follow any more.
    var followers = BinaryHeap<Ranked<Int32, Int>>()
  }

  /// By class.
  private var lanes = Table<BinaryHeap<Int32>>()
  /// Classes that neither follow nor are set aside, by rank.
  private var heads: IndexedHeap<Int32>
  /// In head order.
  private var blocked: [Int32] = []
  private(set) var count = 0
  private var groups: [Want: Group] = [:]
  private var led: [Int: Want] = [:]
  private var following: [Int: Want] = [:]

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
    leave(lane)
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
    leave(lane)
    if heads.contains(lane) || !blocked.contains(Int32(truncatingIfNeeded: lane)) { stand(lane) }
  }

  mutating func pop(_ lane: Int) -> Int32? {
    guard let rank = lanes[lane].pop() else { return nil }
    count -= 1
    leave(lane)
    if heads.contains(lane) { stand(lane) }
    return rank
  }

  /// The class may be set aside.
  mutating func take(_ rank: Int32, lane: Int) {
    count -= lanes[lane].remove { $0 == rank }
    let followed = following[lane] != nil
    leave(lane)
    if followed || heads.contains(lane) { stand(lane) }
  }

  /// Scans the classes once; none may be set aside.
  mutating func remove(_ ranks: Set<Int32>, of lanes: Set<Int>) {
    for lane in lanes {
      count -= self.lanes[lane].remove { ranks.contains($0) }
      leave(lane)
      stand(lane)
    }
  }

  private mutating func stand(_ lane: Int) {
    if let rank = lanes[lane].first { heads.set(lane, to: rank) } else { heads.remove(lane) }
  }

  /// Unordered; no class may be set aside.
  mutating func removeAll() -> [Int32] {
    wakeAll()
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

  // MARK: - Equal wants

  /// Sets the best class aside: it leads the others with the same want, or follows one set aside
  /// before.
  mutating func block(wanting want: Want) {
    guard let (lane, rank) = heads.first else { return }
    if led[lane] != want {
      leave(lane)
      let leader = groups[want]?.leader
      if let leader, !heads.contains(leader), lanes[leader].first ?? .max < rank {
        heads.remove(lane)
        following[lane] = want
        groups[want]?.followers.push(Ranked(rank: rank, value: lane))
        return
      }
      if let leader { led[leader] = nil }
      groups[want, default: Group(leader: lane)].leader = lane
      led[lane] = want
    }
    heads.remove(lane)
    blocked.append(Int32(truncatingIfNeeded: lane))
  }

  /// Looks again at a class that follows: it may want less now.
  mutating func wake(_ lane: Int) {
    if following.removeValue(forKey: lane) != nil { stand(lane) }
  }

  mutating func wakeAll() {
    for lane in following.keys.sorted() { stand(lane) }
    following = [:]
    led = [:]
    groups = [:]
  }

  /// Takes a class out of its group; its best follower leads after it.
  @inline(__always)
  private mutating func leave(_ lane: Int) {
    if !groups.isEmpty { leaveGroup(lane) }
  }

  private mutating func leaveGroup(_ lane: Int) {
    following[lane] = nil
    guard let want = led.removeValue(forKey: lane) else { return }
    while let next = groups[want]?.followers.pop() {
      let lane = next.value
      guard following[lane] == want, lanes[lane].first == next.rank else { continue }
      following[lane] = nil
      led[lane] = want
      groups[want]?.leader = lane
      return stand(lane)
    }
    groups[want] = nil
  }

  /// No class is set aside.
  func checkInvariants() -> String? {
    if !blocked.isEmpty { return "a lane is set aside beyond its pass" }
    if ranks.count != count { return "ready tasks are miscounted" }
    for lane in lanes.indices where lanes[lane].first != nil && !heads.contains(lane) {
      guard let want = following[lane], let leader = groups[want]?.leader, led[leader] == want,
        let best = lanes[leader].first, let own = lanes[lane].first, best < own,
        heads.contains(leader)
      else { return "a lane with tasks stands nowhere" }
    }
    return heads.checkInvariants()
  }
}

extension Int32: HeapElement {
  func isBefore(_ other: Int32) -> Bool { self < other }
}
