internal import OpflowJournal
internal import OpflowPlan

/// The ready tasks, one heap per demand class: its tasks fit or do not fit together, so a pass
/// reads one head per class. It takes the best class, and pops its head or sets the class aside
/// until `unblock`.
///
/// A class with services wants other amounts as soon as one of them runs. Of classes with the same
/// want, passes read only the best (the *leader*): if it does not fit, no other does. The others
/// follow until it leaves, or until one of their own services begins or ends (`wake`).
package struct ReadyQueues {
  /// Such classes fit or do not fit together.
  struct Want: Hashable {
    let amounts: [UInt64]
    /// Services that stay up reserve nothing, and must not lead tasks.
    let isService: Bool
  }

  private struct Group {
    var leader: Int
    /// By the ranks of their heads; some may not follow any more.
    var followers = BinaryHeap<Ranked<Int32, Int>>()
  }

  private var demandClasses = Table<BinaryHeap<Int32>>()
  /// Classes that neither follow nor are set aside.
  private var heads: IndexedHeap<Int32>
  /// Classes that are set aside, in head order.
  private var blocked: [Int32] = []
  private(set) var count = 0
  private var groups: [Want: Group] = [:]
  private var led: [Int: Want] = [:]
  private var following: [Int: Want] = [:]

  init(classCount: Int) {
    heads = IndexedHeap(count: classCount)
    grow(to: classCount)
  }

  mutating func grow(to classCount: Int) {
    while demandClasses.count < classCount { demandClasses.append(BinaryHeap()) }
  }

  @inline(__always)
  var best: (demandClass: Int, rank: Int32)? {
    guard let (demandClass, rank) = heads.first else { return nil }
    return (demandClass, rank)
  }

  func head(_ demandClass: Int) -> Int32? { demandClasses[demandClass].first }

  var first: Int32? {
    let open = heads.first?.key ?? .max
    // Prefetching may have emptied the class.
    let full = blocked.first { demandClasses[Int($0)].first != nil }
    let aside = full.flatMap { demandClasses[Int($0)].first } ?? .max
    return count > 0 ? min(open, aside) : nil
  }

  mutating func block() {
    guard let (demandClass, _) = heads.first else { return }
    leave(demandClass)
    heads.remove(demandClass)
    blocked.append(Int32(truncatingIfNeeded: demandClass))
  }

  var blockedCount: Int { blocked.count }

  mutating func unblock() {
    while let demandClass = blocked.popLast() { stand(Int(demandClass)) }
  }

  mutating func push(_ rank: Int32, demandClass: Int) {
    count += 1
    demandClasses[demandClass].push(rank)
    guard demandClasses[demandClass].first == rank else { return }
    leave(demandClass)
    if heads.contains(demandClass) || !blocked.contains(Int32(truncatingIfNeeded: demandClass)) {
      stand(demandClass)
    }
  }

  mutating func pop(_ demandClass: Int) -> Int32? {
    guard let rank = demandClasses[demandClass].pop() else { return nil }
    count -= 1
    leave(demandClass)
    if heads.contains(demandClass) { stand(demandClass) }
    return rank
  }

  /// The class may be set aside.
  mutating func take(_ rank: Int32, demandClass: Int) {
    count -= demandClasses[demandClass].remove { $0 == rank }
    let followed = following[demandClass] != nil
    leave(demandClass)
    if followed || heads.contains(demandClass) { stand(demandClass) }
  }

  /// No class may be set aside.
  mutating func remove(_ ranks: Set<Int32>, of demandClasses: Set<Int>) {
    for demandClass in demandClasses {
      count -= self.demandClasses[demandClass].remove { ranks.contains($0) }
      leave(demandClass)
      stand(demandClass)
    }
  }

  private mutating func stand(_ demandClass: Int) {
    if let rank = demandClasses[demandClass].first {
      heads.set(demandClass, to: rank)
    } else {
      heads.remove(demandClass)
    }
  }

  mutating func removeAll() -> [Int32] {
    wakeAll()
    var all: [Int32] = []
    all.reserveCapacity(count)
    for demandClass in heads.numbers {
      all += demandClasses[demandClass].elements
      demandClasses[demandClass].removeAll()
    }
    heads.removeAll()
    count = 0
    return all
  }

  var ranks: [Int32] { demandClasses.indices.flatMap { demandClasses[$0].elements } }

  // MARK: - Equal wants

  /// Sets the best class aside: it leads the others with this want, or follows a class set aside
  /// before.
  mutating func block(wanting want: Want) {
    guard let (demandClass, rank) = heads.first else { return }
    if led[demandClass] != want {
      leave(demandClass)
      let leader = groups[want]?.leader
      if let leader, !heads.contains(leader), demandClasses[leader].first ?? .max < rank {
        heads.remove(demandClass)
        following[demandClass] = want
        groups[want]?.followers.push(Ranked(rank: rank, value: demandClass))
        return
      }
      if let leader { led[leader] = nil }
      groups[want, default: Group(leader: demandClass)].leader = demandClass
      led[demandClass] = want
    }
    heads.remove(demandClass)
    blocked.append(Int32(truncatingIfNeeded: demandClass))
  }

  /// The class may want less now.
  mutating func wake(_ demandClass: Int) {
    if following.removeValue(forKey: demandClass) != nil { stand(demandClass) }
  }

  mutating func wakeAll() {
    for demandClass in following.keys.sorted() { stand(demandClass) }
    following = [:]
    led = [:]
    groups = [:]
  }

  /// The best follower then leads the group.
  @inline(__always)
  private mutating func leave(_ demandClass: Int) {
    if !groups.isEmpty { leaveGroup(demandClass) }
  }

  private mutating func leaveGroup(_ demandClass: Int) {
    following[demandClass] = nil
    guard let want = led.removeValue(forKey: demandClass) else { return }
    while let next = groups[want]?.followers.pop() {
      let demandClass = next.value
      guard following[demandClass] == want, demandClasses[demandClass].first == next.rank else {
        continue
      }
      following[demandClass] = nil
      led[demandClass] = want
      groups[want]?.leader = demandClass
      return stand(demandClass)
    }
    groups[want] = nil
  }

  func checkInvariants() -> String? {
    if !blocked.isEmpty { return "a demand class is set aside beyond its pass" }
    if ranks.count != count { return "ready tasks are miscounted" }
    for demandClass in demandClasses.indices
    where demandClasses[demandClass].first != nil && !heads.contains(demandClass) {
      guard let want = following[demandClass], let leader = groups[want]?.leader,
        led[leader] == want, let best = demandClasses[leader].first,
        let own = demandClasses[demandClass].first, best < own, heads.contains(leader)
      else { return "a demand class with tasks is in no queue" }
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
  /// The starts of grades after the first. Tasks of a grade have one priority and nearly equal
  /// paths (within a sixteenth). An empty grade separates two priorities.
  private var gradeStarts: [Int32] = []
  /// In topological order; nil for all tasks.
  private var ranked: [Int32]?
  // Kept if tasks are added repeatedly. `path` excludes the task until its turn.
  private var priority = Table<Int16>()
  private var path = Table<UInt64>()

  var isPartial: Bool { ranked != nil }

  /// A path has 48 bits of a key: nine years in microseconds.
  private static let longestPath: UInt64 = (1 << 48) - 1

  /// - Parameter priorities: Those that differ from the plan.
  init(plan: Plan, durations: TaskDurations, priorities: [TaskID: Int16] = [:]) {
    rank(
      plan.topologicalOrder, by: (0..<plan.taskCount).map { Int32(truncatingIfNeeded: $0) }, plan,
      durations, priorities)
    priority = Table()
    path = Table()
  }

  /// - Parameter hasInstances: True if some are matrix tasks, which precede older dependents.
  mutating func rankAnew(
    adding first: Int, hasInstances: Bool, _ plan: Plan, _ durations: TaskDurations,
    _ priorities: [TaskID: Int16], _ graph: TaskGraph
  ) {
    var open =
      hasInstances
      ? Array(plan.topologicalOrder) : ranked ?? plan.topologicalOrder.filter { $0 < first }
    ranked = nil
    open.removeAll { $0 < first && graph.state(TaskID($0)).isTerminal }
    if !hasInstances { open += plan.order(addedFrom: first) }
    rank(open, by: open.sorted(), plan, durations, priorities)
    ranked = open
  }

  /// - Parameters:
  ///   - tasks: In topological order.
  ///   - numbers: The same in plan order, which decides ties.
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
    // Dependents first: their values are final when their dependencies read them.
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

  /// The first task may start earlier even at a cost: its priority is higher, or its path longer by
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

  /// Below this count, comparing is cheaper than counting digits.
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
