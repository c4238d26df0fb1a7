/// The order in which ready tasks start: inherited priority, then longest remaining path, then the
/// order of the manifest. A path is as long as its tasks are taken to last together. All of that is
/// known before a drive begins, so the order is computed once, as a permutation.
struct Ranking {
  /// The place of each task; 0 starts first.
  let rank: [Int32]
  /// The task at each place.
  let task: [Int32]
  /// The first place of each grade but the best. Tasks of a grade are as urgent as each other, and
  /// their paths differ by a sixteenth at most; between grades of one urgency and those of the next
  /// an empty one stands.
  private let gradeStarts: [Int32]

  /// Lengths of paths have 48 bits of a key, which are nine years of microseconds; longer ones are
  /// alike.
  private static let longestPath: UInt64 = (1 << 48) - 1

  /// - Parameter priorities: of tasks that have another one than in the plan.
  init(plan: Plan, durations: TaskDurations, priorities: [TaskID: Int16] = [:]) {
    let count = plan.taskCount
    var priority = [Int16](repeating: 0, count: count)
    // The longest path behind each task at first, its own part added as its turn comes.
    var path = [UInt64](repeating: 0, count: count)
    for index in 0..<count { priority[index] = plan.priority[index] }
    for (task, given) in priorities { priority[task.index] = given }
    // Against the topological order, so that every dependent is final when its needs look at it.
    var position = count
    while position > 0 {
      position -= 1
      let task = TaskID(plan.topologicalOrder[position])
      let ownPriority = priority[task.index]
      let ownPath = min(path[task.index] &+ UInt64(durations[task]), Self.longestPath)
      path[task.index] = ownPath
      for edge in plan.needs(task) {
        let need = Int(plan.needTargets[edge])
        if ownPriority > priority[need] { priority[need] = ownPriority }
        if ownPath > path[need] { path[need] = ownPath }
      }
    }
    for index in 0..<count {
      let urgency = UInt64(UInt16(bitPattern: Int16.max &- priority[index]))
      path[index] = urgency << 48 | (Self.longestPath - path[index])
    }
    let order = Self.sorted(by: path)
    var rank = [Int32](repeating: 0, count: count)
    for (place, task) in order.enumerated() {
      rank[Int(task)] = Int32(truncatingIfNeeded: place)
    }
    self.rank = rank
    self.task = order
    gradeStarts = Self.grades(of: order, by: path)
  }

  /// Whether the task at place `first` should go before the one at place `second` though that costs
  /// something: it is more urgent, or its path is longer by more than a sixteenth.
  func isMuchBetter(_ first: Int32, than second: Int32) -> Bool {
    first < second && grade(first) + 1 < grade(second)
  }

  /// How many grades begin at or before a place.
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

  /// The positions of `keys` in their order; equal keys keep the order of the manifest.
  static func sorted(by keys: [UInt64]) -> [Int32] {
    let order = (0..<keys.count).map { Int32(truncatingIfNeeded: $0) }
    if keys.count >= radixThreshold { return radixSorted(order, by: keys) }
    return order.sorted { left, right in
      let (a, b) = (keys[Int(left)], keys[Int(right)])
      return a == b ? left < right : a < b
    }
  }

  /// Below it, counting digits costs more than comparing.
  private static let radixThreshold = 20_000

  /// A stable radix sort, 16 bits a pass; passes whose digit is the same for all are left out.
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
