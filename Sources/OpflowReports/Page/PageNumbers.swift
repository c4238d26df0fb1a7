internal import OpflowCore

/// The tasks of a page, numbered in plan order.
struct PageNumbers {
  let tasks: [TaskID]
  /// Numbers by task of the plan; -1 for tasks not in the page.
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

  /// Nil for other tasks.
  subscript(task: TaskID) -> Int? {
    guard numbers.indices.contains(task.index), numbers[task.index] >= 0 else { return nil }
    return Int(numbers[task.index])
  }
}
