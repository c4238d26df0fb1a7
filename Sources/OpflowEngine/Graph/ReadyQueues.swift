internal import OpflowJournal
internal import OpflowPlan

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

/// The start order of ready tasks: inherited priority, then the longest remaining path, then plan
/// order.
struct Ranking {
  /// By task; 0 starts first.
  private(set) var rank = Table<Int32>()
  private(set) var task: [Int32] = []
  /// Where grades after the first begin. Tasks of a grade have one priority and nearly equal paths
  /// (within a sixteenth). An empty grade separates two priorities.
  private var gradeStarts: [Int32] = []
  /// In topological order; nil for all tasks.
  private var ranked: [Int32]?
  // By task, kept if tasks are added repeatedly. `path` excludes the task until its turn.
  private var priority = Table<Int16>()
  private var path = Table<UInt64>()

  var isPartial: Bool { ranked != nil }

  /// A path has 48 bits of a key: nine years in microseconds.
  private static let longestPath: UInt64 = (1 << 48) - 1

  /// - Parameter priorities: those that differ from the plan.
  init(plan: Plan, durations: TaskDurations, priorities: [TaskID: Int16] = [:]) {
    rank(
      plan.topologicalOrder, by: (0..<plan.taskCount).map { Int32(truncatingIfNeeded: $0) }, plan,
      durations, priorities)
    priority = Table()
    path = Table()
  }

  /// Ranks added and open tasks.
  ///
  /// - Parameter hasLegs: some are matrix tasks, which precede older dependents.
  mutating func rankAnew(
    adding first: Int, hasLegs: Bool, _ plan: Plan, _ durations: TaskDurations,
    _ priorities: [TaskID: Int16], _ graph: TaskGraph
  ) {
    var open =
      hasLegs ? Array(plan.topologicalOrder) : ranked ?? plan.topologicalOrder.filter { $0 < first }
    ranked = nil
    open.removeAll { $0 < first && graph.state(TaskID($0)).isTerminal }
    if !hasLegs { open += plan.order(addedFrom: first) }
    rank(open, by: open.sorted(), plan, durations, priorities)
    ranked = open
  }

  /// - Parameters:
  ///   - tasks: in topological order.
  ///   - numbers: the same in plan order, which decides ties.
  private mutating func rank(
    _ tasks: some RandomAccessCollection<Int32>, by numbers: [Int32], _ plan: Plan,
    _ durations: TaskDurations, _ priorities: [TaskID: Int16]
  ) {
    let missing = plan.taskCount - rank.count
    if missing > 0 { rank.append(repeating: 0, count: missing) }
    let unknown = plan.taskCount - priority.count
    priority.append(repeating: 0, count: unknown)
    path.append(repeating: 0, count: unknown)
    for task in tasks {
      priority[Int(task)] = plan.priority[Int(task)]
      path[Int(task)] = 0
    }
    for (task, given) in priorities { priority[task.index] = given }
    // Dependents first: they are final when their dependencies read them.
    for number in tasks.reversed() {
      let task = TaskID(number)
      let ownPriority = priority[task.index]
      let ownPath = min(path[task.index] &+ UInt64(durations[task]), Self.longestPath)
      path[task.index] = ownPath
      for edge in plan.needs(task) {
        let need = Int(plan.needTargets[edge])
        if ownPriority > priority[need] { priority[need] = ownPriority }
        if ownPath > path[need] { path[need] = ownPath }
      }
    }
    let keys = numbers.map { number in
      let urgency = UInt64(UInt16(bitPattern: Int16.max &- priority[Int(number)]))
      return urgency << 48 | (Self.longestPath - path[Int(number)])
    }
    let order = Self.sorted(by: keys)
    task = order.map { numbers[Int($0)] }
    for (place, task) in task.enumerated() { rank[Int(task)] = Int32(truncatingIfNeeded: place) }
    gradeStarts = Self.grades(of: order, by: keys)
  }

  /// Whether the first may start earlier even at a cost: a higher priority, or a path longer by
  /// more than a sixteenth.
  func isMuchBetter(_ first: Int32, than second: Int32) -> Bool {
    first < second && grade(first) + 1 < grade(second)
  }

  private func grade(_ place: Int32) -> Int {
    var (low, high) = (0, gradeStarts.count)
    while low < high {
      let middle = (low + high) / 2
      if gradeStarts[middle] <= place { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private static func grades(of order: [Int32], by keys: [UInt64]) -> [Int32] {
    var starts: [Int32] = []
    var urgency: UInt64?
    var shortest: UInt64 = 0
    for (place, task) in order.enumerated() {
      let key = keys[Int(task)]
      let length = longestPath - key & longestPath
      let isLessUrgent = urgency != nil && urgency != key >> 48
      if urgency != nil, !isLessUrgent, length >= shortest { continue }
      if urgency != nil { starts.append(Int32(truncatingIfNeeded: place)) }
      if isLessUrgent { starts.append(Int32(truncatingIfNeeded: place)) }
      urgency = key >> 48
      shortest = length - length / 16
    }
    return starts
  }

  /// Stable.
  static func sorted(by keys: [UInt64]) -> [Int32] {
    let order = (0..<keys.count).map { Int32(truncatingIfNeeded: $0) }
    if keys.count >= radixThreshold { return radixSorted(order, by: keys) }
    return order.sorted { left, right in
      let (a, b) = (keys[Int(left)], keys[Int(right)])
      return a == b ? left < right : a < b
    }
  }

  /// Below this, comparing is cheaper than counting digits.
  private static let radixThreshold = 20_000

  /// 16 bits per pass; skips passes in which all digits are equal.
  private static func radixSorted(_ positions: [Int32], by keys: [UInt64]) -> [Int32] {
    var order = positions
    var next = positions
    for shift in stride(from: UInt64(0), to: 64, by: 16) {
      var starts = [Int](repeating: 0, count: 65_537)
      for key in keys { starts[Int((key >> shift) & 65_535) + 1] += 1 }
      if starts.contains(keys.count) { continue }
      for digit in 0..<65_536 { starts[digit + 1] += starts[digit] }
      for position in order {
        let digit = Int((keys[Int(position)] >> shift) & 65_535)
        next[starts[digit]] = position
        starts[digit] += 1
      }
      swap(&order, &next)
    }
    return order
  }
}
