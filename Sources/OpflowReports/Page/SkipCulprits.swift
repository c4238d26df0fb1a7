internal import OpflowCore

/// The number of tasks skipped because of each failure, also indirectly.
struct SkipCulprits {
  private var counts: [TaskID: Int] = [:]
  /// Because of tasks in the run.
  private(set) var total = 0

  init(_ status: RunStatus) {
    let plan = status.plan
    guard status.counts.skipped > 0 else { return }
    // Per task: the first cause of its skip.
    var roots = [TaskID](repeating: .none, count: plan.taskCount)
    for index in plan.topologicalOrder {
      let task = TaskID(index)
      guard status.included.contains(task), status.state(task) == .skipped,
        case .skipped(.upstream(let need)) = status.history[task].why, !need.isNone
      else { continue }
      let root = roots[need.index].isNone ? need : roots[need.index]
      roots[task.index] = root
      counts[root, default: 0] += 1
      total += 1
    }
  }

  func count(of task: TaskID) -> Int { counts[task] ?? 0 }
}
