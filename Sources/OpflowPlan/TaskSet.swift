/// A set of tasks, with one bit per task.
package struct TaskSet: Equatable, Sendable {
  private var words: [UInt64]
  package private(set) var count = 0

  package init(taskCount: Int) {
    words = [UInt64](repeating: 0, count: (taskCount + 63) / 64)
  }

  package static func all(taskCount: Int) -> TaskSet {
    var set = TaskSet(taskCount: taskCount)
    for word in set.words.indices {
      let left = taskCount - word * 64
      set.words[word] = left >= 64 ? .max : 1 << UInt64(left) - 1
    }
    set.count = taskCount
    return set
  }

  /// Added tasks are not in the set.
  package mutating func grow(to taskCount: Int) {
    while words.count < (taskCount + 63) / 64 { words.append(0) }
  }

  package var isEmpty: Bool { count == 0 }

  /// False for a task added after the last `grow`.
  package func contains(_ task: TaskID) -> Bool {
    let word = task.index >> 6
    return word < words.count && words[word] >> UInt64(task.index & 63) & 1 == 1
  }

  @discardableResult
  package mutating func insert(_ task: TaskID) -> Bool {
    if contains(task) { return false }
    words[task.index >> 6] |= 1 << UInt64(task.index & 63)
    count += 1
    return true
  }

  package mutating func remove(_ task: TaskID) {
    guard contains(task) else { return }
    words[task.index >> 6] &= ~(1 << UInt64(task.index & 63))
    count -= 1
  }

  /// Both must be of the same plan.
  package func intersection(_ other: TaskSet) -> TaskSet {
    var set = self
    for index in set.words.indices { set.words[index] &= other.words[index] }
    set.count = set.words.reduce(0) { $0 + $1.nonzeroBitCount }
    return set
  }

  package mutating func formUnion(_ other: TaskSet) {
    for index in words.indices { words[index] |= other.words[index] }
    count = words.reduce(0) { $0 + $1.nonzeroBitCount }
  }

  /// Adds all direct and indirect dependencies.
  ///
  /// - Parameter counts: whether to follow a task's dependencies.
  package mutating func addNeeds(of plan: Plan, where counts: (TaskID) -> Bool = { _ in true }) {
    var open = plan.tasks.map { TaskID($0) }.filter { contains($0) }
    while let task = open.popLast() {
      if !counts(task) { continue }
      for edge in plan.needs(task) {
        let need = TaskID(plan.needTargets[edge])
        if insert(need) { open.append(need) }
      }
    }
  }
}
