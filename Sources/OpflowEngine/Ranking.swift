internal import OpflowJournal
internal import OpflowPlan

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
