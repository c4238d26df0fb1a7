/// The ready tasks, one heap for each demand on resources: tasks that want the same fit or do not
/// fit together, so a pass over the queues looks at one head for each demand, not at every task.
struct ReadyQueues {
  /// Heaps of ranks, smallest first.
  private var heaps: [[Int32]]
  private(set) var count = 0

  init(demandCount: Int) { heaps = Array(repeating: [], count: demandCount) }

  var demandCount: Int { heaps.count }

  /// The rank of the first task with that demand.
  func head(_ demand: Int) -> Int32? { heaps[demand].first }

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
  }

  mutating func pop(_ demand: Int) -> Int32? {
    guard let last = heaps[demand].popLast() else { return nil }
    count -= 1
    guard let first = heaps[demand].first else { return last }
    var parent = 0
    let size = heaps[demand].count
    while true {
      var child = parent * 2 + 1
      if child >= size { break }
      if child + 1 < size, heaps[demand][child + 1] < heaps[demand][child] { child += 1 }
      if heaps[demand][child] >= last { break }
      heaps[demand][parent] = heaps[demand][child]
      parent = child
    }
    heaps[demand][parent] = last
    return first
  }

  /// Takes out every task, in no order.
  mutating func removeAll() -> [Int32] {
    let all = heaps.flatMap { $0 }
    for demand in heaps.indices { heaps[demand].removeAll(keepingCapacity: true) }
    count = 0
    return all
  }

  /// Every ready rank, in no order. For checks.
  var ranks: [Int32] { heaps.flatMap { $0 } }
}
