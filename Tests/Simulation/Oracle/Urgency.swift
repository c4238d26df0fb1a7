import OpflowPlan

/// Compares the urgency of tasks as defined in the reference: own or inherited priority, then
/// longest remaining path, then plan order.
struct Urgency {
  private var priority: [Int16]
  private var path: [Int]

  init(plan: Plan, _ given: [TaskID: Int16], without passed: Set<TaskID> = []) {
    priority = plan.tasks.map { given[TaskID($0)] ?? plan.priority[$0] }
    path = [Int](repeating: 1, count: plan.taskCount)
    for index in plan.topologicalOrder.reversed() {
      for edge in plan.dependents(TaskID(index)) {
        let dependent = plan.dependent(edge).index
        if passed.contains(TaskID(dependent)) { continue }
        priority[Int(index)] = max(priority[Int(index)], priority[dependent])
        path[Int(index)] = max(path[Int(index)], path[dependent] + 1)
      }
    }
  }

  func isBefore(_ a: TaskID, _ b: TaskID) -> Bool {
    let (left, right) = (a.index, b.index)
    if priority[left] != priority[right] { return priority[left] > priority[right] }
    if path[left] != path[right] { return path[left] > path[right] }
    return left < right
  }
}
