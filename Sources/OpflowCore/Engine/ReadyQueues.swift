/// The ready tasks, one heap for each demand on resources: tasks that want the same fit or do not
/// fit together, so a pass over the queues looks at one head for each demand, not at every task.
///
/// The queues themselves stand in a heap by their heads. A pass takes the best one after the other:
/// it pops its head, or sets the whole queue aside until `unblock`.
struct ReadyQueues {
  /// Heaps of ranks, smallest first.
  private var heaps: [[Int32]]
  /// Demands with a task, by the rank of their heads: a heap.
  private var order: [Int32] = []
  /// Where in `order` a demand stands; -1 for none.
  private var place: [Int32]
  /// Demands set aside, in the order of their heads.
  private var blocked: [Int32] = []
  private(set) var count = 0

  init(demandCount: Int) {
    heaps = Array(repeating: [], count: demandCount)
    place = Array(repeating: -1, count: demandCount)
  }

  /// The demand whose first task comes before all others, of those not set aside.
  var best: Int? { order.first.map { Int($0) } }

  /// The rank of the first task with that demand.
  func head(_ demand: Int) -> Int32? { heaps[demand].first }

  /// The rank of the first task of all.
  var first: Int32? {
    let open = order.first.flatMap { head(Int($0)) } ?? .max
    // What was handed ahead from a queue that is set aside may have left it empty.
    let aside = blocked.lazy.compactMap { heaps[Int($0)].first }.first ?? .max
    return count > 0 ? min(open, aside) : nil
  }

  /// Sets the best queue aside.
  mutating func block() {
    guard let demand = order.first else { return }
    removeBest()
    blocked.append(demand)
  }

  /// How many queues are set aside.
  var blockedCount: Int { blocked.count }

  /// Takes all queues back that were set aside.
  mutating func unblock() {
    while let demand = blocked.popLast() {
      if !heaps[Int(demand)].isEmpty { insert(demand) }
    }
  }

  mutating func push(_ rank: Int32, demand: Int) {
    count += 1
    var child = heaps[demand].count
    heaps[demand].append(rank)
    while child > 0 {
      let parent = (child - 1) / 2
      if heaps[demand][parent] <= rank { break }
      heaps[demand].swapAt(parent, child)
      child = parent
    }
    if child > 0 { return }
    if place[demand] >= 0 {
      rise(Int(place[demand]))
    } else if !blocked.contains(Int32(truncatingIfNeeded: demand)) {
      insert(Int32(truncatingIfNeeded: demand))
    }
  }

  /// Takes the first task with that demand, whose queue is the best one or set aside.
  mutating func pop(_ demand: Int) -> Int32? {
    guard let last = heaps[demand].popLast() else { return nil }
    count -= 1
    var result = last
    if let first = heaps[demand].first {
      result = first
      sink(last, in: demand)
    }
    if place[demand] == 0 {
      if heaps[demand].isEmpty { removeBest() } else { fall(0) }
    }
    return result
  }

  /// Puts a rank in the place of a demand's head.
  private mutating func sink(_ rank: Int32, in demand: Int) {
    var parent = 0
    let size = heaps[demand].count
    while true {
      var child = parent * 2 + 1
      if child >= size { break }
      if child + 1 < size, heaps[demand][child + 1] < heaps[demand][child] { child += 1 }
      if heaps[demand][child] >= rank { break }
      heaps[demand][parent] = heaps[demand][child]
      parent = child
    }
    heaps[demand][parent] = rank
  }

  /// Takes out every task, in no order. No queue may be set aside.
  mutating func removeAll() -> [Int32] {
    let all = order.flatMap { heaps[Int($0)] }
    for demand in order {
      heaps[Int(demand)].removeAll(keepingCapacity: true)
      place[Int(demand)] = -1
    }
    order.removeAll(keepingCapacity: true)
    count = 0
    return all
  }

  /// Every ready rank, in no order. For checks.
  var ranks: [Int32] { heaps.flatMap { $0 } }

  // MARK: - The heap of queues

  private func key(_ position: Int) -> Int32 { heaps[Int(order[position])][0] }

  private mutating func insert(_ demand: Int32) {
    order.append(demand)
    place[Int(demand)] = Int32(truncatingIfNeeded: order.count - 1)
    rise(order.count - 1)
  }

  private mutating func removeBest() {
    guard let best = order.first, let last = order.popLast() else { return }
    place[Int(best)] = -1
    if order.isEmpty { return }
    order[0] = last
    place[Int(last)] = 0
    fall(0)
  }

  private mutating func rise(_ start: Int) {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      if key(parent) <= key(child) { return }
      exchange(parent, child)
      child = parent
    }
  }

  private mutating func fall(_ start: Int) {
    var parent = start
    while true {
      var child = parent * 2 + 1
      if child >= order.count { return }
      if child + 1 < order.count, key(child + 1) < key(child) { child += 1 }
      if key(parent) <= key(child) { return }
      exchange(parent, child)
      parent = child
    }
  }

  private mutating func exchange(_ a: Int, _ b: Int) {
    order.swapAt(a, b)
    place[Int(order[a])] = Int32(truncatingIfNeeded: a)
    place[Int(order[b])] = Int32(truncatingIfNeeded: b)
  }
}
