/// The tasks of a page: those that the run is about, from 0, in the order of the plan.
struct PageNumbers {
  let tasks: [TaskID]
  /// By task of the plan; -1 for those that are not there.
  private let numbers: [Int32]

  init(_ status: RunStatus) {
    var tasks: [TaskID] = []
    var numbers = [Int32](repeating: -1, count: status.plan.taskCount)
    for task in status.plan.tasks.lazy.map({ TaskID($0) }) where status.included.contains(task) {
      numbers[task.index] = Int32(truncatingIfNeeded: tasks.count)
      tasks.append(task)
    }
    self.tasks = tasks
    self.numbers = numbers
  }

  /// Nil for one that the run is not about.
  subscript(task: TaskID) -> Int? {
    guard numbers.indices.contains(task.index), numbers[task.index] >= 0 else { return nil }
    return Int(numbers[task.index])
  }
}
